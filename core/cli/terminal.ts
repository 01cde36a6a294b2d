import { printable } from "../logging/printable.js";

/** What a command may touch of the world outside; main.ts fills it with the process, tests with their own. */
export interface Terminal {
  out(line: string): void;
  err(line: string): void;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborts when the user or the system asks the program to stop. */
  readonly stopRequested: AbortSignal;
  /** From now on calls the listener whenever the configuration shall be read again. */
  onReload?(listener: () => void): void;
}

/** Makes the exit code of a command that of the program. */
export type Settle = (command: Promise<number>) => Promise<void>;

/** Exit codes of the program. */
export const exitCodes = { success: 0, failure: 1, badInput: 2, folderInUse: 3 } as const;

/** The same terminal, which nothing that is printed can change: names and messages may come from anybody. */
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
