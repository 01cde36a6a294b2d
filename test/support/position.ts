import type { BatchPosition, Event, TakeTransaction } from "../../core/sdk/index.js";

/** The position of a batch; `events` are those of its channel, numbered from 1, of which a position covers the first. */
export function at(text: string, events: readonly Event[] = []): BatchPosition {
  return { text, coveredBy: (other) => events.slice(0, Number(other.split(":")[1])) };
}

/** Where a durable channel stands once everything that the transaction took is done. */
export function positionOf({ positions }: TakeTransaction): string | undefined {
  return positions?.after(Number.MAX_SAFE_INTEGER);
}
