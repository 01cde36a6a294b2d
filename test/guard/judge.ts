import { type Bound, boundOf, type Counts } from "./bounds.js";

/** What is wrong with the counts of a case, a sentence for each count above its bound; empty when all are within. */
export function faultsOf(name: string, counts: Counts, was: Counts): readonly string[] {
  return Object.entries(counts).flatMap(([what, count]) => {
    const before = was[what];
    if (before === undefined) return [`${name}: "${what}" has no bound in ${PLACE}; it is ${shown(count)}`];
    const { most } = boundOf(what, before);
    if (count <= most) return [];
    const than = `they were ${shown(before)}, and more than ${shown(most)} is a failure`;
    return [`${name}: "${what}" are ${shown(count)} for 1,000 notifications; ${than} (${PLACE})`];
  });
}

/** Of each count the lesser one. */
export function leastOf(counts: Counts, others: Counts): Counts {
  return Object.fromEntries(
    Object.entries(counts).map(([what, count]) => [what, Math.min(count, others[what] ?? count)]),
  );
}

/** Counts that are so far below that their bounds can come down. */
export function gainsOf(counts: Counts, was: Counts): readonly string[] {
  return Object.entries(counts).flatMap(([what, count]) => {
    const before = was[what] ?? count;
    const bound: Bound = boundOf(what, before);
    return count < before - bound.slack ? [`"${what}" are ${shown(count)}, they were ${shown(before)}`] : [];
  });
}

const PLACE = "test/guard/bounds.ts";

function shown(count: number): string {
  return count.toLocaleString("en");
}
