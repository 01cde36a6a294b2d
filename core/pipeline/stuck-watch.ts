import { closeSync, openSync, writeSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { LINE, STATE_AT, STATE_BYTES } from "./crash-mark.js";

/** Milliseconds between two looks, and the looks in a row at which nothing moved before the main thread counts as stuck. */
const PAUSE = 100;
const LOOKS = 5;

/**
 * Runs in a thread of its own while an event is suspected: when the main thread does not come back from the same
 * hand-over for half a second, the mark gets the state `stuck`, because nothing else will be able to write it.
 */
async function watch(turns: Int32Array, file: string, row: number): Promise<void> {
  const handle = openSync(file, "r+");
  parentPort?.postMessage("looking");
  let last = 0;
  let looks = 0;
  try {
    for (;;) {
      await delay(PAUSE);
      const turn = Atomics.load(turns, 0);
      looks = turn === last && turn % 2 === 1 ? looks + 1 : 0;
      last = turn;
      if (looks === LOOKS) writeSync(handle, "stuck".padEnd(STATE_BYTES), row * LINE + STATE_AT, "latin1");
    }
  } finally {
    closeSync(handle);
  }
}

const { turns, file, row } = workerData;
await watch(turns, file, row);
