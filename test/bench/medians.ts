import type { Measurement } from "./measure.js";
import type { BenchResults } from "./result.js";
import { median } from "./statistics.js";

/** The median of a figure of a case; undefined where it was not measured. */
export function medianOf(
  { cases }: BenchResults,
  name: string,
  read: (run: Measurement) => number | undefined,
): number | undefined {
  const runs = cases.find(({ subject }) => subject.name === name)?.runs ?? [];
  const values = runs.flatMap((run) => read(run) ?? []);
  return values.length === 0 ? undefined : median(values);
}

export function ratio(value: number | undefined, to: number | undefined): number | undefined {
  return value === undefined || to === undefined ? undefined : value / to;
}
