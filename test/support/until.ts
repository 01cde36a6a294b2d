import { setTimeout as delay } from "node:timers/promises";

const pauseMilliseconds = 20;

/** Looks again and again until what it sees is wanted; throws with the last sight when that takes too long. */
export async function until<T>(look: () => Promise<T>, wanted: (sight: T) => boolean, patience = 120_000): Promise<T> {
  const end = Date.now() + patience;
  for (;;) {
    const sight = await look();
    if (wanted(sight)) return sight;
    if (Date.now() > end) throw new Error(`waited ${patience} ms, last saw ${JSON.stringify(sight)}`);
    await delay(pauseMilliseconds);
  }
}
