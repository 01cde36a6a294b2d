import { ProbeRuns } from "../../../core/agent/examination/probe-runs.js";
import type { Probe } from "../../../core/sdk/index.js";

/** What the probes of a component find, each as `outcome: reason => remedy`; those that were not tried are left out. */
export async function findingsOf(kind: string, probes: readonly Probe[]): Promise<readonly string[]> {
  const runs = new ProbeRuns({ milliseconds: 30_000, atOnce: 1, running: undefined });
  const all = await runs.all({ component: kind, kind, type: "kafka" }, probes);
  return all
    .filter(({ outcome }) => outcome !== "skipped")
    .map(({ outcome, reason = "", remedy = "" }) => `${outcome}: ${reason} => ${remedy}`);
}
