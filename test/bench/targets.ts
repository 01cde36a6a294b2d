import { type AgentSetup, agentCase, bareHttp, byHand } from "./case.js";
import { growthCases } from "./growth-case.js";
import type { Measurement } from "./measure.js";
import { medianOf, ratio } from "./medians.js";
import type { OriginalSystems } from "./original-cases.js";
import { originalStored } from "./original-stored.js";
import type { BenchResults } from "./result.js";

/** One row of the table of the targets. */
export interface TargetRow {
  readonly what: string;
  /** Undefined when what it needs was not measured. */
  readonly value: number | undefined;
  readonly unit: "x" | "ms" | "MiB" | "bytes";
  /** Without these it is for comparison only. */
  readonly must?: number;
  readonly aim?: number;
  /** Whether more is better. */
  readonly more: boolean;
}

const packaged = { database: "postgresql", channel: "memory", batchSize: 1, entities: 100 } as const;
const large = { ...packaged, batchSize: 1000 } as const;
const file = { ...packaged, channel: "file" } as const;
const largeFile = { ...large, channel: "file" } as const;

/** Compares the medians of one run of the harness with what is wanted. */
export function targetRows(results: BenchResults, original: OriginalSystems): readonly TargetRow[] {
  const of = (name: string, read: (run: Measurement) => number | undefined) => medianOf(results, name, read);
  const agent = (setup: AgentSetup, read: (run: Measurement) => number | undefined) => of(agentCase(setup).name, read);
  const bare = of(bareHttp.name, (run) => run.acceptedPerSecond);
  const hand = of(byHand.name, stored);

  return [
    // A command is measured with 100 tables only.
    ...(typeof original.packaged === "object" ? [100] : [1, 100, 1000]).map((entities) => ({
      what: `stored/s to the original, packaged, tables: ${entities}`,
      value: ratio(agent({ ...packaged, entities }, stored), originalStored(results, original, "packaged")),
      ...times(8, 16),
    })),
    {
      what: "stored/s to the original's best, batch_size 100, one table",
      value: ratio(
        agent({ ...packaged, batchSize: 100, entities: 1 }, stored),
        originalStored(results, original, "best"),
      ),
      ...times(1.2, 2),
    },
    ...each([packaged, large], (setup, words) => ({
      what: `stored/s to bare node:http, memory, 100 tables, ${words}`,
      value: ratio(agent(setup, stored), bare),
      ...times(0.4, 0.7),
    })),
    ...each([file, largeFile], (setup, words) => ({
      what: `stored/s to bare node:http, file channel, 100 tables, ${words}`,
      value: ratio(agent(setup, stored), bare),
      ...times(0.3, 0.55),
    })),
    ...each([packaged, file], (setup) => ({
      what: `stored/s to by hand, ${setup.channel} channel, 100 tables`,
      value: ratio(agent(setup, stored), hand),
      unit: "x" as const,
      more: true,
    })),
    ...each([packaged, large, file, largeFile], (setup, words) => ({
      what: `answer p99 at half of the highest rate, ${setup.channel} channel, ${words}`,
      value: agent(setup, (run) => run.half?.p99),
      ...atMost("ms", 15, 5),
    })),
    ...each([packaged, large], (setup, words) => ({
      what: `POST to visible row at 10/s, p50, ${words}`,
      value: agent(setup, (run) => run.visible?.p50),
      ...atMost("ms", 9, 3),
    })),
    ...each([packaged, large], (setup, words) => ({
      what: `POST to visible row at 10/s, p99, ${words}`,
      value: agent(setup, (run) => run.visible?.p99),
      ...atMost("ms", 20, 10),
    })),
    ...each([packaged, large, file, largeFile], (setup, words) => ({
      what: `most resident memory up to the highest rate, ${setup.channel} channel, ${words}`,
      value: agent(setup, (run) => run.peakMebibytes),
      ...atMost("MiB", 200, 130),
    })),
    {
      what: "start to first 200, packaged",
      value: agent(packaged, (run) => run.startMilliseconds),
      ...atMost("ms", 800, 400),
    },
    { what: "100,000 tables: heap per known table", value: bytesPerTable(results), ...atMost("bytes", 1000, 300) },
    ...each([packaged, large], (setup, words) => ({
      what: `embedded database, stored/s to PostgreSQL, 100 tables, ${words}`,
      value: ratio(agent({ ...setup, database: "sqlite" }, stored), agent(setup, stored)),
      ...times(0.5, 1),
    })),
  ];
}

/** Whether it is reached; undefined where nothing is wanted or nothing was measured. */
export function verdictOf({ value, must, aim, more }: TargetRow): "aim" | "must" | "missed" | undefined {
  if (value === undefined || must === undefined || aim === undefined) return undefined;
  const reached = (wanted: number) => (more ? value >= wanted : value <= wanted);
  if (reached(aim)) return "aim";
  return reached(must) ? "must" : "missed";
}

const stored = (run: Measurement) => run.storedPerSecond;

const times = (must: number, aim: number) => ({ unit: "x", must, aim, more: true }) as const;

const atMost = (unit: "ms" | "MiB" | "bytes", must: number, aim: number) => ({ unit, must, aim, more: false }) as const;

function each(
  setups: readonly AgentSetup[],
  row: (setup: AgentSetup, words: string) => TargetRow,
): readonly TargetRow[] {
  return setups.map((setup) => row(setup, `batch_size ${setup.batchSize}`));
}

function bytesPerTable({ growth }: BenchResults): number | undefined {
  const wanted = growthCases.find(({ curve, size }) => curve === "tables" && size === 100_000);
  const [steps = []] = growth.find(({ subject }) => subject.name === wanted?.name)?.runs ?? [];
  const before = steps[0]?.memory?.heapBefore;
  const after = steps.at(-1)?.memory?.heapAfter;
  return before === undefined || after === undefined ? undefined : (after - before) / 100_000;
}
