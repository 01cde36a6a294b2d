import { decode } from "../../../core/ngsi/index.js";
import type { Event } from "../../../core/sdk/index.js";
import { receivedAt } from "./sinks.js";

/** The event of an entity of type T with these members, as JSON, at this number of milliseconds after the time of the other tests. */
export function ldEvent(id: string, members: Readonly<Record<string, unknown>>, service: string, later = 0): Event {
  const text = JSON.stringify({ type: "Notification", data: [{ id, type: "T", ...members }] });
  const [body] = decode("ld", text, {}).entities;
  return { headers: { "fiware-service": service, timestamp: String(Date.parse(receivedAt) + later) }, body };
}
