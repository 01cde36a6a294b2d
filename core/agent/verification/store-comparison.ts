import { isDeepStrictEqual } from "node:util";
import type { Compared, StoreBase } from "../../pipeline/ledger-file.js";
import { counted } from "../../sdk/counted.js";

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
  readonly of: Compared;
}

interface Judged {
  readonly store: StoreComparison;
  /** That of the next comparison. */
  readonly base: StoreBase;
  readonly note?: string;
}

/** Compares what stores hold with what they have to hold by the ledger since the comparison began. */
export function judged(base: StoreBase | undefined, asked: Asked): Judged {
  const { events, before, after, letters, of } = asked;
  const moving = Math.max(0, after - before);
  const now = { events, stored: before, moving, loose: false, of };
  const same = { events, expected: events, difference: 0 };
  if (base === undefined) return { store: same, base: now, note: begins("it was not compared before") };
  const expected = base.events + before - base.stored - (base.moving ?? 0);
  const most = base.events + after - base.stored;
  const difference = events < expected ? events - expected : Math.max(0, events - most);
  const change = difference === 0 ? undefined : changeBetween(base, asked);
  if (change !== undefined) {
    const numbers = `its stores hold ${counted(events, "event")} of ${expected}`;
    return { store: same, base: now, note: begins(`${change}: ${numbers}`) };
  }
  // After a kill the books are a moment old, and a position covers dead letters too.
  if (base.loose && difference >= -letters) {
    const note = "the comparison starts again after a kill";
    return { store: same, base: now, ...(difference === 0 ? {} : { note }) };
  }
  const { left: _, ...unchanged } = base;
  const isCloser = difference === 0 && moving < (base.moving ?? 0);
  return {
    store: { events, expected: difference > 0 ? most : expected, difference },
    base: isCloser ? now : { ...unchanged, of },
  };
}

const begins = (reason: string) => `${reason}; the comparison begins now`;

/** What has other counts than those of the base, in words. */
function changeBetween({ of: before, left }: StoreBase, asked: Asked): string | undefined {
  const { of: now } = asked;
  if (before !== undefined && !isDeepStrictEqual(before, now)) {
    if (before.channel !== now.channel) return `its id is ${now.channel}, where it was ${before.channel}`;
    const [names, others] = [Object.keys(now.sinks), Object.keys(before.sinks)];
    if (names.join() !== others.join())
      return `its sinks are ${names.join(", ")}, where they were ${others.join(", ")}`;
    const [[name, place] = []] = Object.entries(now.sinks).filter(([sink, found]) => found !== before.sinks[sink]);
    return `sink "${name}" counts in ${placeIn(place)}, where it counted in ${placeIn(before.sinks[name ?? ""])}`;
  }
  return left === undefined || left === asked.before
    ? undefined
    : "for a time its stores did not count, or other ones did";
}

const placeIn = (place = "") => (place === "" ? "no known place" : place);
