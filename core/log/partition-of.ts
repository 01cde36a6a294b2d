import { serviceKey } from "../sdk/channel/index.js";
import { isRecord } from "../sdk/event.js";
import type { Event } from "../sdk/index.js";

/**
 * The partition of an event: the same for all events of an entity of a service, so that they keep their order. The hash
 * (FNV-1a, 32 bits) must never change: a later version would mix up the order of what waits.
 */
export function partitionOf(event: Event, partitions: number): number {
  const { body } = event;
  const id = isRecord(body) && typeof body["id"] === "string" ? body["id"] : "";
  // One after another: a text of all would have to be made first.
  const hash = hashed(hashed(hashed(0x811c9dc5, serviceKey(event)), "\0"), id);
  // The lower bits of such a hash are not spread well.
  return ((hash ^ (hash >>> 15)) >>> 0) % partitions;
}

function hashed(before: number, text: string): number {
  let hash = before;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash;
}
