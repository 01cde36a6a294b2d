import { type Event, type Logger, reasonOf } from "deneb/sdk";
import type { Appender } from "./appender.js";

/**
 * Writes events that are in memory alone to disk, by their sequence numbers, when a channel closes; resolves to the number of
 * those that cannot be written.
 */
export async function saveUnsaved(
  unsaved: ReadonlyMap<number, Event>,
  appender: Appender,
  log: Logger,
): Promise<number> {
  const events = [...unsaved].map(([sequence, event]) => ({ sequence, event }));
  if (events.length === 0) return 0;
  try {
    await appender.insert(events.sort((one, other) => one.sequence - other.sequence));
    log.info({ events: events.length }, "events in memory written to disk");
    return 0;
  } catch (error) {
    log.error({ events: events.length, reason: reasonOf(error) }, "events in memory lost: they cannot be written");
    return events.length;
  }
}
