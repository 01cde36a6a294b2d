import { setImmediate as turn } from "node:timers/promises";
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
/** Collects the whole heap, or its young generation alone. */
export const collectGarbage: (what?: { readonly type: "minor" }) => void = runInNewContext("gc");

/** Bytes of the heap that are in use, without garbage. */
export function heapUsed(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

const ROUNDS = 3;

/**
 * Bytes that each time of some work leaves: the least of some rounds, after one that does not count. What is made once, such as
 * compiled code, is made in any of them; what each time leaves is left in all.
 */
export async function bytesLeftByEach(times: number, work: (times: number) => Promise<unknown>): Promise<number> {
  await work(times);
  const grown: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = heapUsed();
    await work(times);
    // What a WeakRef was asked for, as those of signals, is kept until the turn of the event loop ends.
    await turn();
    grown.push(heapUsed() - before);
  }
  return Math.min(...grown) / times;
}

/** Bytes that are used in the old generation. */
export function oldBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === "old_space")?.space_used_size ?? 0;
}
