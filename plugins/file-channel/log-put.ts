import type { Event } from "deneb/sdk";
import type { QueuedEvent } from "deneb/sdk/channel";
import type { PutTexts } from "./encode-group.js";
import type { Segment } from "./segment.js";

/** The events of one put, as they are and as they are written. */
export interface LogPut extends PutTexts {
  readonly events: readonly Event[];
}

export function logPut(events: readonly Event[]): LogPut {
  const texts = events.map((event) => JSON.stringify(event));
  return { events, texts, bytes: texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) };
}

/** Called in the order of the events, as soon as they are on disk. */
export type Written = (group: WrittenGroup) => void;

export interface WrittenGroup {
  readonly events: readonly QueuedEvent[];
  readonly segment: Segment;
  readonly bytes: number;
}
