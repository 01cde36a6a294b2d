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

/** Bytes that are used in the old generation. */
export function oldBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === "old_space")?.space_used_size ?? 0;
}
