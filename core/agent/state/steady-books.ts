import { setTimeout as delay } from "node:timers/promises";
import type { ChannelLedger } from "./ledger-snapshot.js";

/** Milliseconds and times that the books are read again while events move. */
const PAUSE = 20;
const MOST_READS = 10;

/**
 * The books of all channels. Between the end of a take and its account they are wrong for a moment: those that do not add up
 * are read again, and of all readings the one counts that comes closest.
 */
export async function steadyBooks(read: () => readonly ChannelLedger[]): Promise<readonly ChannelLedger[]> {
  let best = read();
  for (let reads = 1; reads < MOST_READS && best.some((books) => difference(books) > 0); reads += 1) {
    await delay(PAUSE);
    const now = read();
    best = now.map((books) => {
      const before = best.find(({ name }) => name === books.name);
      return before !== undefined && difference(before) < difference(books) ? before : books;
    });
  }
  return best;
}

function difference({ unaccounted = 0 }: ChannelLedger): number {
  return Math.abs(unaccounted);
}
