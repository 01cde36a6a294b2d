import { type AgentSetup, agentCase, bareSocket } from "./case.js";
import type { Measurement } from "./measure.js";
import { medianOf as of, ratio } from "./medians.js";
import type { BenchResults } from "./result.js";
import type { ScaleFigure } from "./scale-case.js";
import { figure, type Sheet } from "./sheet.js";
import { median } from "./statistics.js";
import type { TargetRow } from "./targets.js";

/** A row for each figure: the median of the runs. */
export function scaleSheet({ scale }: BenchResults): Sheet {
  return {
    title: "Several agents over one log",
    head: ["case", "what", "median"],
    rows: scale.flatMap(({ subject: { name }, runs, failure }) => {
      if (failure !== undefined) return [[name, `not measured: ${failure}`]];
      const [first = []] = runs;
      return first.map(({ what, unit }) => {
        const value = median(runs.flatMap((run) => valuesOf(run, what)));
        return [name, what, unit === "/s" ? `${figure(value)}/s` : `${figure(value, 1)} ${unit}`];
      });
    }),
  };
}

/** What an agent over a log is to reach. */
export function scaleTargets(results: BenchResults): readonly TargetRow[] {
  const bare = of(results, bareSocket.name, (run) => run.acceptedPerSecond);
  return (["kafka", "jetstream"] as const).flatMap((channel): readonly TargetRow[] => {
    const setup: AgentSetup = { database: "postgresql", channel, batchSize: 1, entities: 100 };
    const one = (read: (run: Measurement) => number | undefined) => of(results, agentCase(setup).name, read);
    const stored = one((run) => run.storedPerSecond);
    const several = (ending: string, what: string) => {
      const found = results.scale.find(({ subject }) => subject.name === `scale: ${channel}, ${ending}`);
      const values = (found?.runs ?? []).flatMap((run) => valuesOf(run, what));
      return values.length === 0 ? undefined : median(values);
    };
    const most = (must: number, aim: number) => ({ must, aim, more: false });
    return [
      {
        what: `${channel}: stored/s to bare node:net`,
        value: ratio(stored, bare),
        unit: "x",
        must: 0.2,
        aim: 0.4,
        more: true,
      },
      {
        what: `${channel}: answer p99 at half of the highest rate`,
        value: one((run) => run.half?.p99),
        unit: "ms",
        ...most(40, 15),
      },
      {
        what: `${channel}: two agents, stored/s to one`,
        value: ratio(several("two agents, load split", "stored"), stored),
        unit: "x",
        must: 1,
        aim: 1.2,
        more: true,
      },
      {
        what: `${channel}: takeover`,
        value: times(several("takeover after kill -9", "until all partitions are stored again"), 1000),
        unit: "ms",
        ...most(10_000, 8000),
      },
      {
        what: `${channel}: resident memory for each partition`,
        value: times(several("memory with 8 and 1,000 partitions", "resident for each partition"), 1024),
        unit: "bytes",
        ...most(1_000_000, 100_000),
      },
    ];
  });
}

function valuesOf(run: readonly ScaleFigure[], what: string): readonly number[] {
  return run.filter((one) => one.what === what).map(({ value }) => value);
}

function times(value: number | undefined, by: number): number | undefined {
  return value === undefined ? undefined : value * by;
}
