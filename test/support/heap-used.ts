import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

/** Bytes of the heap that are in use, without garbage. */
export function heapUsed(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}
