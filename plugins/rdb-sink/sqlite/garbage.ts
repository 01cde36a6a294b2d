import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

let collect: (() => void) | undefined;

/**
 * Has V8 collect what this thread no longer uses: libsql ends a prepared statement only then, and a closed file stays open as
 * long as one of its statements is there. They end after the task of the thread in which they are collected.
 */
export async function collectGarbage(): Promise<void> {
  collect ??= collector();
  collect();
  await setImmediate();
}

function collector(): () => void {
  setFlagsFromString("--expose-gc");
  try {
    const gc: unknown = runInNewContext("globalThis.gc");
    return () => (typeof gc === "function" ? gc() : undefined);
  } finally {
    setFlagsFromString("--no-expose-gc");
  }
}
