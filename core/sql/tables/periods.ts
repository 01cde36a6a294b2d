import type { Period, TimeRange } from "../contract/partitions.js";

const DAY = 86_400_000;
const THURSDAY = 4;
const DAYS_OF_WEEK = 7;

/** Times outside share two partitions: no clock is meant to show them. */
const EARLIEST = "2000-01-01";
const LATEST = "2100-01-01";

/** The ranges of times that no clock is meant to show. */
const absurdRanges: readonly TimeRange[] = [
  { from: undefined, to: EARLIEST },
  { from: LATEST, to: undefined },
];

const DATE = /^\d{4}-\d\d-\d\d/;

/**
 * The ranges that hold a time, as text of either API: one, or both ranges of absurd times, which databases sort
 * differently. Boundaries are midnights in UTC, weeks begin on Monday.
 */
export function rangesOf(text: string, period: Period): readonly TimeRange[] {
  const [date] = DATE.exec(text) ?? [];
  const day = date === undefined ? Number.NaN : Date.parse(`${date}T00:00:00Z`);
  if (date === undefined || Number.isNaN(day) || date < EARLIEST || date >= LATEST) return absurdRanges;
  return [rangeAt(day, period)];
}

/** The range of the period that holds an instant. */
export function rangeAt(epochMillis: number, period: Period): TimeRange {
  const from = starts[period](new Date(epochMillis), 0);
  const to = starts[period](new Date(epochMillis), 1);
  // A week may begin before the first day and end after the last.
  return { from: later(textOf(from), EARLIEST), to: earlier(textOf(to), LATEST) };
}

/** The instant of a boundary. */
export function instantOf(boundary: string): number {
  return Date.parse(`${boundary.slice(0, "2020-05-13".length)}T00:00:00Z`);
}

/** The part of a range that no partition takes yet: the one around `within`, a time that none of them holds. */
export function openPart(range: TimeRange, taken: readonly TimeRange[], within: string): TimeRange {
  let { from, to } = range;
  for (const other of taken) {
    if (other.to !== undefined && other.to <= within && (from === undefined || other.to > from)) from = other.to;
    if (other.from !== undefined && other.from > within && (to === undefined || other.from < to)) to = other.from;
  }
  return { from, to };
}

/** Whether a time is in the range. */
export function holds({ from, to }: TimeRange, text: string): boolean {
  return (from === undefined || from <= text) && (to === undefined || text < to);
}

const starts: Readonly<Record<Period, (time: Date, later: number) => number>> = {
  day: (time, more) => Date.UTC(time.getUTCFullYear(), time.getUTCMonth(), time.getUTCDate() + more),
  week: (time, more) => {
    const day = Math.floor(time.getTime() / DAY);
    // 1970 began on a Thursday.
    const monday = day - ((day + THURSDAY - 1) % DAYS_OF_WEEK);
    return (monday + DAYS_OF_WEEK * more) * DAY;
  },
  month: (time, more) => Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + more),
  year: (time, more) => Date.UTC(time.getUTCFullYear() + more, 0),
};

function textOf(epochMillis: number): string {
  const [date = ""] = new Date(epochMillis).toISOString().split("T");
  return date;
}

function later(one: string, other: string): string {
  return one > other ? one : other;
}

function earlier(one: string, other: string): string {
  return one < other ? one : other;
}
