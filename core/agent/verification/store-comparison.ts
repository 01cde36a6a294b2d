import type { StoreBase } from "../../pipeline/ledger-file.js";

/** What the stores of a channel hold, compared with the ledger. */
export interface StoreComparison {
  /** Events that the stores have counted for this channel. */
  readonly events: number;
  /** Those that they must have by the ledger. */
  readonly expected: number;
  /** 0 when all is right; negative when the stores lack events. */
  readonly difference: number;
}

/** What the stores of a channel were asked, in events. */
interface Asked {
  /** What they hold. */
  readonly events: number;
  /** What the ledger called stored before they were asked, and the most that may have been stored when they had answered. */
  readonly before: number;
  readonly after: number;
  /** Open dead letters of the sinks. */
  readonly letters: number;
  /** Names of the sinks, sorted. */
  readonly sinks: readonly string[];
}

interface Judged {
  readonly store: StoreComparison;
  /** That of the next comparison. */
  readonly base: StoreBase;
  readonly note?: string;
}

/** Compares what stores hold with what they have to hold by the ledger since the comparison began. */
export function judged(base: StoreBase | undefined, asked: Asked): Judged {
  const { events, before, after, letters, sinks } = asked;
  const moving = Math.max(0, after - before);
  const now = { events, stored: before, moving, loose: false, sinks };
  const same = { events, expected: events, difference: 0 };
  if (base === undefined) return { store: same, base: now, note: begins("the ledger is from an earlier version") };
  const compared = base.sinks ?? sinks;
  if (compared.join() !== sinks.join()) {
    const note = begins(`its sinks are ${listed(sinks)}, where they were ${listed(compared)}`);
    return { store: same, base: now, note };
  }
  const expected = base.events + before - base.stored - (base.moving ?? 0);
  const most = base.events + after - base.stored;
  const difference = events < expected ? events - expected : Math.max(0, events - most);
  // After a kill the books are a moment old, and a position covers dead letters too.
  if (base.loose && difference >= -letters) {
    const note = "the comparison starts again after a kill";
    return { store: same, base: now, ...(difference === 0 ? {} : { note }) };
  }
  const isCloser = difference === 0 && moving < (base.moving ?? 0);
  return {
    store: { events, expected: difference > 0 ? most : expected, difference },
    base: isCloser ? now : { ...base, sinks },
  };
}

const begins = (reason: string) => `${reason}; the comparison begins now`;

const listed = (sinks: readonly string[]) => (sinks.length === 0 ? "none" : sinks.join(", "));
