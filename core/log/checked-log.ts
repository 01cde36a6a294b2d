import { AgentError, pause } from "../sdk/index.js";
import type {
  Appended,
  Bounds,
  LogFacts,
  LogPart,
  LogRecord,
  LogSettings,
  PartitionedLog,
  ReadLimits,
} from "./partitioned-log.js";

/** Milliseconds. An adapter that does not wait would let nothing else of the process have its turn. */
const SHORTEST_READ = 20;

/** An adapter as it is called, with what it answers checked: what has another shape is an error that names engine, member and value. */
export function checkedLog(log: PartitionedLog, engine: string): PartitionedLog {
  const fail = (about: About) => malformed(engine, about);
  return {
    open: async (signal) => checkedFacts(await log.open(signal), fail),
    ...(log.settings === undefined
      ? {}
      : { settings: async () => checkedSettings(await log.settings?.(), "settings", fail) }),
    append: async (part, value, name) => checkedPlace(await log.append(part, value, name), part, fail),
    read: async (from, limits, signal) => {
      const began = performance.now();
      const found = checkedRecords(await log.read(from, limits, signal), from, fail);
      if (found.size === 0) await waited(began, limits, signal);
      return found;
    },
    bounds: async (parts) => checkedBounds(await log.bounds(parts), fail),
    trim: async (before, signal) => await log.trim(before, signal),
    close: async (signal) => await log.close(signal),
    ...(log.probes === undefined ? {} : { probes: (examiner) => log.probes?.(examiner) ?? [] }),
  };
}

interface About {
  /** What was called, and what of its answer is meant: `open: partitions`. */
  readonly answer: string;
  readonly value: unknown;
  readonly expected: string;
}

type Fail = (about: About) => AgentError;

function malformed(engine: string, { answer, value, expected }: About): AgentError {
  const message = `the adapter of the log engine "${engine}" answered ${answer} with ${shown(value)}, not with ${expected}; mend its plugin`;
  return new AgentError("LOG_MALFORMED", message, { retryable: false });
}

/** A short text of what may be anything. */
function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 50));
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "object" && value !== null) return Array.isArray(value) ? "a list" : "an object";
  return typeof value === "function" ? "a function" : String(value);
}

function checkedFacts(facts: LogFacts, fail: Fail): LogFacts {
  checkedSettings(facts, "open", fail);
  const { id, partitions } = facts;
  if (typeof id !== "string" || id === "") throw fail({ answer: "open: id", value: id, expected: "a text" });
  if (!Number.isSafeInteger(partitions) || partitions < 1)
    throw fail({ answer: "open: partitions", value: partitions, expected: "a number of at least 1" });
  return facts;
}

function checkedSettings(settings: LogSettings | undefined, call: string, fail: Fail): LogSettings {
  if (typeof settings !== "object" || settings === null)
    throw fail({ answer: call, value: settings, expected: "an object" });
  const { largestRecord, warnings } = settings;
  if (typeof largestRecord !== "number" || !(largestRecord >= 1))
    throw fail({ answer: `${call}: largestRecord`, value: largestRecord, expected: "a number of bytes" });
  if (!Array.isArray(warnings) || warnings.some((warning) => typeof warning !== "string"))
    throw fail({ answer: `${call}: warnings`, value: warnings, expected: "a list of texts" });
  return settings;
}

function checkedPlace(place: Appended, part: LogPart, fail: Fail): Appended {
  const answer = `append to part ${part}`;
  if (typeof place !== "object" || place === null) throw fail({ answer, value: place, expected: "an offset" });
  const { offset, previous } = place;
  if (!Number.isSafeInteger(offset))
    throw fail({ answer: `${answer}: offset`, value: offset, expected: "a safe integer" });
  if (previous !== undefined && !(Number.isSafeInteger(previous) && previous < offset))
    throw fail({ answer: `${answer}: previous`, value: previous, expected: `an offset before ${offset}` });
  return place;
}

function checkedRecords(
  found: ReadonlyMap<LogPart, readonly LogRecord[]>,
  asked: ReadonlyMap<LogPart, number>,
  fail: Fail,
): ReadonlyMap<LogPart, readonly LogRecord[]> {
  if (!(found instanceof Map)) throw fail({ answer: "read", value: found, expected: "a map of records by part" });
  for (const [part, records] of found) {
    if (!asked.has(part))
      throw fail({ answer: "read", value: part, expected: "one of the parts that it was asked for" });
    const answer = `read of part ${part}`;
    if (!Array.isArray(records)) throw fail({ answer, value: records, expected: "a list of records" });
    let before = -1;
    for (const { offset, value } of records) {
      if (!Number.isSafeInteger(offset) || offset <= before)
        throw fail({ answer: `${answer}: offset`, value: offset, expected: `an integer above ${before}` });
      if (!(value instanceof Uint8Array))
        throw fail({ answer: `${answer}: value at offset ${offset}`, value, expected: "bytes" });
      before = offset;
    }
  }
  return found;
}

function checkedBounds(bounds: ReadonlyMap<LogPart, Bounds>, fail: Fail): ReadonlyMap<LogPart, Bounds> {
  if (!(bounds instanceof Map)) throw fail({ answer: "bounds", value: bounds, expected: "a map of bounds by part" });
  for (const [part, { first, next }] of bounds) {
    const answer = `bounds of part ${part}`;
    if (!Number.isSafeInteger(next)) throw fail({ answer: `${answer}: next`, value: next, expected: "a safe integer" });
    if (!Number.isSafeInteger(first) || first > next)
      throw fail({ answer: `${answer}: first`, value: first, expected: `a safe integer of at most ${next}` });
  }
  return bounds;
}

/** What was asked for as long a wait as `limits` allow takes at least a moment. */
async function waited(began: number, { waitMillis }: ReadLimits, signal: AbortSignal): Promise<void> {
  const left = Math.min(waitMillis, SHORTEST_READ) - (performance.now() - began);
  if (left > 0) await pause(left, signal);
}
