import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";

const MEBIBYTE = 1024 * 1024;
/** Objects of one step; about 100 KB. */
const STEP = 1000;
/** V8 grows it after one or two collections of its first size, 1 MiB. */
const MOST_STEPS = 200;

/**
 * Lets V8 grow each half of the young generation to this number of mebibytes and no further; one that is larger already, by
 * an option of Node, stays. V8 has no call for that in a process that runs: it grows the space by a factor, after collections
 * that much survived, and takes the factor from a flag each time.
 */
export function limitYoungGeneration(mebibytes: number): void {
  const wanted = 2 * mebibytes * MEBIBYTE;
  setFlagsFromString(`--semi-space-growth-factor=${mebibytes}`);
  const held: object[][] = [];
  for (let step = 0; step < MOST_STEPS && youngBytes() < wanted; step += 1) {
    held.push(Array.from({ length: STEP }, (_, at) => ({ step, at, held })));
  }
  setFlagsFromString("--semi-space-growth-factor=1");
}

function youngBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space")?.space_size ?? 0;
}
