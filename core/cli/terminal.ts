import { printable } from "../logging/printable.js";

/** What a command uses of the process; tests pass their own. */
export interface Terminal {
  out(line: string): void;
  err(line: string): void;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborts when the user or the system stops the program. */
  readonly stopRequested: AbortSignal;
  /** Calls the listener whenever a reload of the configuration is requested. */
  onReload?(listener: () => void): void;
  /**
   * From now on calls the listener when a stop is asked for a second time. It returns how many events the end of the
   * process would lose now.
   */
  onStopAgain?(listener: () => number): void;
}

/** Exit codes of the program. */
export const exitCodes = { success: 0, failure: 1, badInput: 2, folderInUse: 3, eventsLost: 4 } as const;

/** The same terminal without control characters in its lines: names and messages may come from anywhere. */
export function printingOnly(terminal: Terminal): Terminal {
  const { env, stopRequested } = terminal;
  return {
    out: (line) => terminal.out(printable(line)),
    err: (line) => terminal.err(printable(line)),
    env,
    stopRequested,
    onReload: (listener) => terminal.onReload?.(listener),
    onStopAgain: (listener) => terminal.onStopAgain?.(listener),
  };
}
