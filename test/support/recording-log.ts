import type { Logger } from "../../core/sdk/index.js";

export interface LogLine {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly fields: object;
  readonly message: string;
}

/** A logger that keeps its lines. */
export function recordingLog(): { readonly log: Logger; readonly lines: LogLine[] } {
  const lines: LogLine[] = [];
  const write = (level: LogLine["level"]) => (fields: object, message: string) => {
    lines.push({ level, fields, message });
  };
  return { lines, log: { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") } };
}
