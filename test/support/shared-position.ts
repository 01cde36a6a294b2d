import type { Batch, Event } from "../../core/sdk/index.js";

/** The batch of the events `from` to `to` of a channel that agents share; its events are numbered from 0. */
export function sharedBatch(channel: string, all: readonly Event[], from: number, to: number): Batch {
  const coveredBy = (other: string) => {
    const [name, count] = other.split(":");
    return name === channel ? all.slice(from, Math.max(from, Math.min(to, Number(count)))) : [];
  };
  return { events: all.slice(from, to), position: { text: `${channel}:${to}`, shared: true, coveredBy } };
}
