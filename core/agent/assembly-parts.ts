import { lockFolder } from "../files/folder-lock.js";
import type { CrashWatch } from "../pipeline/crash-watch.js";
import type { DeadLetters } from "../pipeline/dead-letters.js";
import type { Ledger } from "../pipeline/ledger.js";
import type { ChannelContext, Context } from "../sdk/index.js";
import type { Clock, Loggers, TransactionObserver } from "../tokens.js";
import { runOfProcess } from "./run-of-process.js";

/** What the components of an agent share. */
export interface AssemblyParts {
  readonly loggers: Loggers;
  readonly clock: Clock;
  readonly dataDir: string;
  readonly deadLetters: DeadLetters;
  readonly ledger: Ledger;
  readonly crashWatch: CrashWatch;
  readonly observer: TransactionObserver;
  /** Seconds that the start of a source or sink may take, 0 for ever; absent: a sink as long as a write. */
  readonly startTimeout?: number;
  /** Seconds to wait for another process that holds a folder; absent: not at all. */
  readonly lockWait?: number;
}

export function contextOf(name: string, { loggers, clock, dataDir }: AssemblyParts): Context {
  return { name, log: loggers.of(name), dataDir, run: runOfProcess, now: () => clock.now() };
}

export function channelContextOf(name: string, parts: AssemblyParts): ChannelContext {
  const context = contextOf(name, parts);
  const patience = { seconds: parts.lockWait ?? 0, log: context.log };
  return { ...context, lockFolder: (folder, claim = {}) => lockFolder(folder, claim, patience) };
}
