import type { LogRecord } from "./log-record.js";
import { onOneLine } from "./printable.js";

/** The message, then the fields that say nothing of the context, as `name=value`. */
export function messageOf({ message, fields }: LogRecord): string {
  const own = [...fields].filter(([name]) => !contextNames.has(name));
  return [onOneLine(message), ...own.map(([name, value]) => `${onOneLine(name)}=${shown(value)}`)].join(" ");
}

/** What `%X{name}` shows: `N/A` where the entry does not say. */
export function contextOf({ fields, logger }: LogRecord, name = ""): string {
  if (name === "") return `{${[...contextNames].map((known) => `${known}=${shown(fields.get(known))}`).join(", ")}}`;
  if (name === "agent" || name === "comp") return onOneLine(logger);
  return shown(fields.get(otherNames.get(name) ?? name));
}

/** Correlator, transaction id, service and service path of the notification that an entry is about. */
const contextNames: ReadonlySet<string> = new Set(["corr", "trans", "srv", "subsrv"]);

/** The names that existing patterns use. */
const otherNames: ReadonlyMap<string, string> = new Map([
  ["correlatorId", "corr"],
  ["transactionId", "trans"],
  ["service", "srv"],
  ["subservice", "subsrv"],
]);

function shown(value: unknown): string {
  if (value === undefined) return "N/A";
  return onOneLine(typeof value === "string" ? value : JSON.stringify(value));
}
