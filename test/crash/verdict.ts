import type { Sent } from "./clients.js";

/** What the rows of the store say about what was sent: all lists are empty when every promise was kept. */
export interface Verdict {
  readonly accepted: number;
  readonly lost: readonly number[];
  readonly doubled: readonly number[];
  /** Rows of numbers that nobody sent. */
  readonly unknown: readonly number[];
}

/** Holds the numbers of all rows against what was sent. */
export function verdict({ accepted, others }: Sent, rows: readonly number[]): Verdict {
  const counts = new Map<number, number>();
  for (const number of rows) counts.set(number, (counts.get(number) ?? 0) + 1);
  return {
    accepted: accepted.size,
    lost: [...accepted].filter((number) => !counts.has(number)),
    doubled: [...counts].filter(([, count]) => count > 1).map(([number]) => number),
    unknown: [...counts.keys()].filter((number) => !accepted.has(number) && !others.has(number)),
  };
}
