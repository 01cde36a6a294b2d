import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { lockFolder } from "../files/folder-lock.js";
import type { CrashWatch } from "../pipeline/crash-watch.js";
import type { DeadLetters } from "../pipeline/dead-letters/dead-letters.js";
import type { Ledger } from "../pipeline/ledger.js";
import type { ChannelContext, Context, Metrics } from "../sdk/index.js";
import type { Clock, Loggers, TransactionObserver } from "../tokens.js";
import type { ReportedHealth } from "./reported-health.js";

/** Names this run of the agent for stores that several agents write to. Made once: what one process does has one name. */
const runOfProcess: string = [
  hostname().replaceAll(",", "_"),
  process.pid,
  new Date(Date.now() - Math.round(process.uptime() * 1000)).toISOString(),
  randomBytes(8).toString("hex"),
].join(",");

/** What the components of an agent share. */
export interface AssemblyParts {
  readonly loggers: Loggers;
  readonly clock: Clock;
  readonly dataDir: string;
  readonly deadLetters: DeadLetters;
  readonly ledger: Ledger;
  readonly crashWatch: CrashWatch;
  readonly observer: TransactionObserver;
  /** The metrics that a component makes by itself. */
  readonly metricsOf: (component: string) => Metrics;
  /** Seconds that the start of a source or sink may take, 0 is no limit; absent: a sink as long as a write. */
  readonly startTimeout?: number;
  /** Seconds to wait for another process that holds a folder; absent: not at all. */
  readonly lockWait?: number;
}

type ContextParts = Pick<AssemblyParts, "loggers" | "clock" | "dataDir">;

/** For what does not run, such as an explanation. */
export function plainContextOf(name: string, { loggers, clock, dataDir }: ContextParts): Context {
  return { name, log: loggers.of(name), dataDir, run: runOfProcess, now: () => clock.now() };
}

export function contextOf(name: string, parts: AssemblyParts, reported: ReportedHealth): Context {
  return { ...plainContextOf(name, parts), report: reported.of(name), metrics: parts.metricsOf(name) };
}

export function channelContextOf(name: string, parts: AssemblyParts, reported: ReportedHealth): ChannelContext {
  const context = contextOf(name, parts, reported);
  const wait = { seconds: parts.lockWait ?? 0, log: context.log };
  return { ...context, lockFolder: (folder, claim = {}) => lockFolder(folder, claim, wait) };
}
