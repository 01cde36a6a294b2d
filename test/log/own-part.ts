import { atBeginning } from "../../core/log/log-position.js";
import type { OwnPart } from "../../core/log/own-parts.js";
import { PartQueue } from "../../core/log/part-queue.js";
import type { ReadRecord } from "../../core/log/read-edge.js";

/** A part of a gapless log, of which nothing was read. */
export function ownPart(part = 0): OwnPart {
  return { queue: new PartQueue(part, atBeginning, 0, true), holders: 0, leaving: false, end: 0 };
}

/** A record with one event, of a writer of its own. */
export function oneEvent(offset: number): ReadRecord {
  const event = { event: { headers: {}, body: { id: `e${offset}` } }, origin: undefined };
  return { at: 0, writer: `w${offset}`, before: 0, offset, bytes: 10, events: [event] };
}
