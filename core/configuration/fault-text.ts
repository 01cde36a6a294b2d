import type { Fault } from "./fault.js";

/** One readable line: `line 12: a1.sinks.s.batch_size = "abc": must be a whole number, 1 or more`. */
export function faultText({ key, value, reason, nearest, line }: Fault): string {
  const place = line === undefined ? "" : `line ${line}: `;
  const shown = value === undefined ? "" : ` = ${JSON.stringify(value)}`;
  const question = nearest === undefined ? "" : `; did you mean "${nearest}"?`;
  return `${place}${key}${shown}: ${reason}${question}`;
}
