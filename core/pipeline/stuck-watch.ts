import { closeSync, openSync, writeSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { LINE, STATE_AT, STATE_BYTES } from "./in-hand.js";

/** Milliseconds between two checks, and the checks in a row without progress after which the main thread counts as stuck. */
const PAUSE = 25;
const CHECKS = 20;
/** With this number of bytes more than at the first of two checks the process is about to run out of memory. */
const GROWTH = 64 * 1024 * 1024;

/**
 * Runs in a thread of its own while an event is suspected: when the main thread does not come back from the same
 * hand-over for half a second, or takes memory without coming back, the mark gets the state `stuck`, because nothing else
 * will be able to write it.
 */
async function watch(turns: Int32Array, file: string, row: number): Promise<void> {
  const handle = openSync(file, "r+");
  parentPort?.postMessage("looking");
  let last = 0;
  let checks = 0;
  let memory = 0;
  try {
    for (;;) {
      await delay(PAUSE);
      const turn = Atomics.load(turns, 0);
      checks = turn === last && turn % 2 === 1 ? checks + 1 : 0;
      last = turn;
      const resident = process.memoryUsage.rss();
      if (checks === 0) memory = resident;
      if (checks === CHECKS || (checks > 0 && resident - memory > GROWTH))
        writeSync(handle, "stuck".padEnd(STATE_BYTES), row * LINE + STATE_AT, "latin1");
    }
  } finally {
    closeSync(handle);
  }
}

const { turns, file, row } = workerData;
await watch(turns, file, row);
