import type { Counted } from "./counting-clients.js";

export interface CountedRow {
  readonly entity: string;
  readonly number: number;
}

/** What the rows say about what clients asked for: all lists are empty when every promise was kept. */
export interface SharedVerdict {
  readonly lost: readonly string[];
  readonly doubled: readonly string[];
  /** Rows that nobody asked for. */
  readonly unknown: readonly string[];
  /** Accepted later than the accepted row of the same entity that follows. */
  readonly disordered: readonly string[];
}

/** `rows` in the order in which they were stored. */
export function sharedVerdict({ accepted, others }: Counted, rows: readonly CountedRow[]): SharedVerdict {
  const counts = new Map<string, number>();
  const last = new Map<string, number>();
  const disordered: string[] = [];
  for (const { entity, number } of rows) {
    const key = `${entity}:${number}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
    if (!accepted.has(key)) continue;
    const before = last.get(entity) ?? 0;
    if (number < before) disordered.push(`${key} after ${before}`);
    last.set(entity, Math.max(before, number));
  }
  return {
    lost: [...accepted].filter((key) => !counts.has(key)),
    doubled: [...counts].filter(([, count]) => count > 1).map(([key]) => key),
    unknown: [...counts.keys()].filter((key) => !accepted.has(key) && !others.has(key)),
    disordered,
  };
}
