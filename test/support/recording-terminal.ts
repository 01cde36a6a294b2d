import type { Terminal } from "../../core/cli/command.js";

/** A terminal that keeps what is written to it, with an empty environment. */
export function recordingTerminal() {
  const out: string[] = [];
  const err: string[] = [];
  const terminal: Terminal = {
    out: (line) => out.push(line),
    err: (line) => err.push(line),
    env: {},
    stopRequested: new AbortController().signal,
  };
  return { terminal, out, err };
}
