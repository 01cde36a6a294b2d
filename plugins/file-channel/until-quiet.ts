import { setImmediate as nextTurn } from "node:timers/promises";

/** Milliseconds. */
const LONGEST = 5;

/**
 * Resolves as soon as a turn of the event loop brought nothing more, and after some milliseconds whatever comes. What
 * comes in one moment then shares one write; without it the first put would be written alone while all others wait.
 */
export async function untilQuiet(count: () => number): Promise<void> {
  const end = performance.now() + LONGEST;
  for (let before = 0; count() > before && performance.now() < end; ) {
    before = count();
    await nextTurn();
  }
}
