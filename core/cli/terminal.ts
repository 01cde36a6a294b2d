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
}

/** Exit codes of the program. */
export const exitCodes = { success: 0, failure: 1, badInput: 2, folderInUse: 3 } as const;

/** The same terminal without control characters in its lines: names and messages may come from anywhere. */
export function printingOnly(terminal: Terminal): Terminal {
  const { env, stopRequested } = terminal;
  return {
    out: (line) => terminal.out(printable(line)),
    err: (line) => terminal.err(printable(line)),
    env,
    stopRequested,
    onReload: (listener) => terminal.onReload?.(listener),
  };
}
