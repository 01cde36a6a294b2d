import { createHash } from "node:crypto";
import { type Event, letterHeader } from "../sdk/index.js";

/** The ids of events behind a durable channel begin with this; others are random. */
const PREFIX = "e-";

/** True for an id that comes from its event: the same event has it again after a restart. */
export function isDerived(id: string): boolean {
  return id.startsWith(PREFIX);
}

/**
 * The ids of events that a durable channel returns again when the process ended before their take was committed. Made of
 * the sink, the event and, for identical events of one take, their order; undefined for what JSON cannot hold.
 */
export function derivedIds(sink: string, taken: readonly Event[]): ReadonlyMap<Event, string> {
  const occurrences = new Map<string, number>();
  const ids = new Map<Event, string>();
  for (const event of taken) {
    const digest = digestOf(sink, event);
    if (digest === undefined) continue;
    const before = occurrences.get(digest) ?? 0;
    occurrences.set(digest, before + 1);
    ids.set(event, `${PREFIX}${digest}${before === 0 ? "" : `-${before}`}`);
  }
  return ids;
}

function digestOf(sink: string, { headers, body }: Event): string | undefined {
  const entries = Object.entries(headers).filter(([name]) => name !== letterHeader);
  try {
    const text = JSON.stringify([sink, entries.sort(([one], [other]) => (one < other ? -1 : 1)), body]);
    return createHash("sha256").update(text).digest("hex").slice(0, 32);
  } catch {
    return undefined;
  }
}
