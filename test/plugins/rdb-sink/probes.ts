import { examiner } from "../../../core/agent/examination/examiner.js";
import { type Finding, ProbeRuns } from "../../../core/agent/examination/probe-runs.js";
import type { RdbConfig } from "../../../plugins/rdb-sink/config.js";
import { never, sinkOf } from "./sinks.js";

/** What the probes of a sink of this configuration find. */
export async function probed(config: Partial<RdbConfig>): Promise<readonly Finding[]> {
  const { sink } = sinkOf(config, undefined, undefined, { agent: "a", name: "sink" });
  const runs = new ProbeRuns({ milliseconds: 30_000, atOnce: 4, running: undefined });
  try {
    const by = examiner({ now: () => new Date("2026-01-01") });
    return await runs.all({ component: "sink", kind: "sink", type: "rdb" }, sink.probes(by));
  } finally {
    await sink.stop(never);
  }
}

/** The finding whose attempt begins so. */
export function found(findings: readonly Finding[], tried: string): Pick<Finding, "outcome" | "reason" | "remedy"> {
  const one = findings.find((finding) => finding.tried.startsWith(tried));
  if (one === undefined) throw new Error(`nothing of ${JSON.stringify(findings)} begins with ${tried}`);
  return {
    outcome: one.outcome,
    ...(one.reason === undefined ? {} : { reason: one.reason }),
    ...(one.remedy === undefined ? {} : { remedy: one.remedy }),
  };
}

/** All that did not go well, as lines. */
export function troubles(findings: readonly Finding[]): readonly string[] {
  return findings.flatMap(({ tried, outcome, reason }) =>
    outcome === "ok" ? [] : [`${outcome}: ${tried}: ${reason}`],
  );
}
