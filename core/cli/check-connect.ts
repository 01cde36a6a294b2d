import { setTimeout as delay } from "node:timers/promises";
import { examine } from "../agent/examination/examination.js";
import { examiner } from "../agent/examination/examiner.js";
import { type Finding, ProbeRuns, runningPid } from "../agent/examination/probe-runs.js";
import type { KernelSettings } from "../configuration/schema/kernel-settings.js";
import type { Topology } from "../configuration/topology.js";
import { folderState } from "../files/folder-state.js";
import { silentLoggers } from "../logging/loggers.js";
import { counted } from "../sdk/counted.js";
import { systemClock } from "../tokens.js";
import type { Terminal } from "./command.js";
import { ownProbes } from "./own-probes.js";

interface ConnectOptions {
  readonly topology: Topology;
  /** The properties file. */
  readonly config: string;
  readonly settings: KernelSettings;
  readonly probeSeconds: number;
}

/** Probes that run at the same time. */
const AT_ONCE = 8;

/** Tries what `run` would need with this configuration: first what the agent itself needs, then each component. */
export async function connectFindings(options: ConnectOptions): Promise<readonly Finding[]> {
  const { topology, config, settings, probeSeconds } = options;
  const { dataDir } = settings;
  const held = await heldWithin(probeSeconds * 1000, dataDir);
  const running = runningPid(held, config);
  const limits = { milliseconds: probeSeconds * 1000, atOnce: AT_ONCE, running };
  const runs = new ProbeRuns(limits);
  const by = examiner({ running, now: systemClock.now });
  const own = await ownProbes(settings, by);
  const parts = { loggers: silentLoggers, clock: systemClock, dataDir, examiner: by, runs };
  const [kernel, components] = await Promise.all([
    Promise.all(own.map(({ probes, ...examinee }) => runs.all(examinee, probes))),
    examine(topology, parts),
  ]);
  return [...kernel.flat(), ...components];
}

/** The note of whoever holds the data directory; undefined also when its file system does not answer. */
async function heldWithin(milliseconds: number, dataDir: string): Promise<string | undefined> {
  const looking = folderState(dataDir, true).then(
    ({ heldBy }) => heldBy,
    () => undefined,
  );
  return await Promise.race([looking, delay(milliseconds, undefined, { ref: false })]);
}

/** One line for each finding. */
export function printFindings(findings: readonly Finding[], terminal: Terminal): void {
  for (const finding of findings) terminal.out(findingText(finding));
}

function findingText({ component, kind, tried, outcome, reason, remedy, milliseconds }: Finding): string {
  const who = kind === "agent" ? component : `${kind} "${component}"`;
  const found = [reason, remedy].filter((text) => text !== undefined).join("; ");
  const time = outcome === "skipped" ? "" : ` (${milliseconds} ms)`;
  return `${outcome.padEnd(LONGEST_OUTCOME)} ${who}: ${tried}${found === "" ? "" : `: ${found}`}${time}`;
}

const LONGEST_OUTCOME = "warning".length;

/** How many of each outcome that somebody must know, such as `2 probes failed, 1 warning`. */
export function findingCounts(findings: readonly Finding[]): string {
  const count = (wanted: Finding["outcome"]) => findings.filter(({ outcome }) => outcome === wanted).length;
  const [failed, warnings] = [count("failed"), count("warning")];
  return [failed === 0 ? "" : `${counted(failed, "probe")} failed`, warnings === 0 ? "" : counted(warnings, "warning")]
    .filter((text) => text !== "")
    .join(", ");
}
