import { setTimeout as delay } from "node:timers/promises";

const SHORTEST_PAUSE = 20;
/** Of the time that it has waited already: a look is not free, and what takes long may be seen a little later. */
const PAUSE_SHARE = 0.1;
const LONGEST_PAUSE = 250;

/** Looks again and again until what it sees is wanted; throws with the last sight when that takes too long. */
export async function until<T>(look: () => Promise<T>, wanted: (sight: T) => boolean, patience = 120_000): Promise<T> {
  const begin = performance.now();
  for (;;) {
    const sight = await look();
    if (wanted(sight)) return sight;
    const waited = performance.now() - begin;
    if (waited > patience) throw new Error(`waited ${patience} ms, last saw ${JSON.stringify(sight)}`);
    await delay(Math.min(Math.max(SHORTEST_PAUSE, PAUSE_SHARE * waited), LONGEST_PAUSE));
  }
}
