import { createHash } from "node:crypto";
import type { Event } from "../sdk/index.js";

/** What is known of the events in the hands of a sink. */
export interface CrashMark {
  /** The key of its name: names may be longer than a line. */
  readonly sink: string;
  /** Of the first event in hand. */
  readonly first: string;
  /** Events in hand. */
  readonly count: number;
  /**
   * `handed-over`: the event loop has not turned since. `died` and `stuck`: likewise, and the process ended by itself, or
   * did not come back for half a second. `waiting`: for the store. `idle`: nothing is in hand.
   */
  readonly state: MarkState;
  /** Processes before this one that died with this event alone in hand, without any progress between them. */
  readonly deaths: number;
}

const states = ["handed-over", "died", "stuck", "waiting", "idle"] as const;
export type MarkState = (typeof states)[number];

/** Bytes of a line, its end included. */
export const LINE = 128;
/** Where the state of a line begins, and its bytes. */
export const STATE_AT = 0;
export const STATE_BYTES = 12;

/** The line of a mark; the state comes first, in bytes of its own, so that it can be written over alone. */
export function lineOf({ sink, first, count, state, deaths }: CrashMark): Buffer {
  const text = `${state.padEnd(STATE_BYTES)}${[sink, first, count, deaths].join(" ")}`;
  return Buffer.from(`${text.padEnd(LINE - 1)}\n`, "latin1");
}

/** The marks of a file by the key of their sink; a line that is damaged is no mark. */
export function marksIn(text: string): ReadonlyMap<string, CrashMark> {
  return new Map(text.split("\n").flatMap((line) => markIn(line) ?? []));
}

function markIn(line: string): readonly [readonly [string, CrashMark]] | undefined {
  const written = line.slice(0, STATE_BYTES).trim();
  const state = states.find((known) => known === written);
  const [key = "", first = "", count = "", deaths = ""] = line.slice(STATE_BYTES).trim().split(" ");
  if (state === undefined || !HASH.test(key) || !HASH.test(first)) return undefined;
  if (!NUMBER.test(count) || !NUMBER.test(deaths)) return undefined;
  return [[key, { sink: key, first, count: Number(count), state, deaths: Number(deaths) }]];
}

const HASH = /^[0-9a-f]{32}$/;
const NUMBER = /^\d{1,9}$/;

/** A name as a line holds it. */
export function keyOf(sink: string): string {
  return hash(sink);
}

/** The same for the same event after a restart. */
export function identityOf({ headers, body }: Event): string {
  return hash(JSON.stringify([headers, body]));
}

function hash(text: string): string {
  return createHash("sha1").update(text).digest("hex").slice(0, 32);
}
