import { agentCase } from "./case.js";
import { type ChannelRatios, type FormRatios, formRatios } from "./form-ratios.js";
import type { BodyFormat } from "./forms.js";
import type { Measurement } from "./measure.js";
import { medianOf, ratio } from "./medians.js";
import { comparedWith, type OriginalSystems } from "./original-cases.js";
import { originalStored } from "./original-stored.js";
import type { BenchResults } from "./result.js";
import type { TargetRow } from "./targets.js";

/** Forms that brokers commonly send; the slowest of them counts. */
const common: readonly (BodyFormat | undefined)[] = ["ld-pretty", "ld-sub-attributes", "v2"];

const packaged = { database: "postgresql", channel: "memory", batchSize: 1, entities: 100 } as const;

/** What the second round of work is to reach, on what brokers really send. */
export function secondTargets(results: BenchResults, original: OriginalSystems): readonly TargetRow[] {
  const ratios = formRatios(results);
  const compact = ratios.filter(({ format }) => format === "ld");
  const others = ratios.filter(({ format }) => common.includes(format));
  const all = [...compact, ...others];
  return [
    slowest("memory channel, compact NGSI-LD", compact, ({ memory }) => memory.stored, { must: 0.55, aim: 0.75 }),
    slowest("memory channel, slowest of the other forms", others, ({ memory }) => memory.stored, {
      must: 0.48,
      aim: 0.65,
    }),
    slowest("file channel, compact NGSI-LD", compact, ({ file }) => file.stored, { must: 0.4, aim: 0.6 }),
    slowest("file channel, slowest of the other forms", others, ({ file }) => file.stored, { must: 0.35, aim: 0.5 }),
    costliest("memory channel", all, ({ memory }) => memory, { must: 1.8, aim: 1.4 }),
    costliest("file channel", all, ({ file }) => file, { must: 2.6, aim: 1.8 }),
    {
      what: "stored/s to the original in the same run, packaged",
      value: ratio(storedOf(results, "packaged"), originalStored(results, original, "packaged")),
      ...more(12, 20),
    },
    {
      what: "stored/s to the original in the same run, its best",
      value: ratio(storedOf(results, "best"), originalStored(results, original, "best")),
      ...more(3, 4),
    },
    {
      what: "answer p99 at half of the highest rate, file channel, slowest case",
      value: most(results, "file", (run) => run.half?.p99),
      ...less("ms", 6, 4),
    },
    {
      what: "most resident memory at the highest rate, any case",
      value: most(results, undefined, (run) => run.peakMebibytes),
      ...less("MiB", 140, 110),
    },
    {
      what: "start to first 200, packaged",
      value: medianOf(results, agentCase(packaged).name, (run) => run.startMilliseconds),
      ...less("ms", 450, 300),
    },
  ];
}

interface Wanted {
  readonly must: number;
  readonly aim: number;
}

const more = (must: number, aim: number) => ({ unit: "x", must, aim, more: true }) as const;
const less = (unit: "ms" | "MiB" | "x", must: number, aim: number) => ({ unit, must, aim, more: false }) as const;

function slowest(
  of: string,
  ratios: readonly FormRatios[],
  read: (ratios: FormRatios) => number | undefined,
  { must, aim }: Wanted,
): TargetRow {
  const [worst] = ratios.flatMap((one) => withValue(one, read(one))).toSorted((one, other) => one.value - other.value);
  const form = ratios.length > 1 ? ` (${worst?.words})` : "";
  return { what: `stored/s to the bare socket, ${of}${form}`, value: worst?.value, ...more(must, aim) };
}

function costliest(
  channel: string,
  ratios: readonly FormRatios[],
  read: (ratios: FormRatios) => ChannelRatios,
  { must, aim }: Wanted,
): TargetRow {
  const costs = ratios.flatMap((one) => withValue(one, read(one).cpu));
  const [worst] = costs.toSorted((one, other) => other.value - one.value);
  const form = worst === undefined ? "" : ` (${worst.words})`;
  const what = `CPU of the agent for an event to the bare socket for a request, ${channel}, costliest form${form}`;
  return { what, value: worst?.value, ...less("x", must, aim) };
}

function withValue({ words }: FormRatios, value: number | undefined) {
  return value === undefined ? [] : [{ words, value }];
}

function storedOf(results: BenchResults, setup: keyof OriginalSystems): number | undefined {
  return medianOf(results, agentCase(comparedWith(setup)).name, (run) => run.storedPerSecond);
}

/** The greatest median of all cases of the agent, or of those with one channel. */
function most(
  results: BenchResults,
  channel: string | undefined,
  read: (run: Measurement) => number | undefined,
): number | undefined {
  const agents = results.cases.filter(({ subject }) => subject.system === "agent");
  const wanted = agents.filter(({ subject }) => channel === undefined || subject.channel === channel);
  const values = wanted.flatMap(({ subject }) => medianOf(results, subject.name, read) ?? []);
  return values.length === 0 ? undefined : Math.max(...values);
}
