import { medianOf } from "./medians.js";
import { type OriginalSystems, originalName } from "./original-cases.js";
import type { BenchResults } from "./result.js";

/** Stored per second by the original: as measured in this run, or as the command line says. */
export function originalStored(
  results: BenchResults,
  systems: OriginalSystems,
  setup: keyof OriginalSystems,
): number | undefined {
  const system = systems[setup];
  if (typeof system === "number") return system;
  return medianOf(results, originalName(setup), (run) => run.storedPerSecond);
}
