#!/usr/bin/env node
import { setFlagsFromString } from "node:v8";
import { createProgram } from "./cli/program.js";
import { exitCodes, printingOnly, type Terminal } from "./cli/terminal.js";
import { reasonOf } from "./sdk/index.js";

// The young generation is small: threads that help to collect it take more time of the cores than they save.
setFlagsFromString("--no-parallel-scavenge");
// V8 takes what happened to survive a collection for long-lived and makes more of it where only a full collection looks;
// dead events there keep all that they refer to (decision 0086).
setFlagsFromString("--no-allocation-site-pretenuring");
// What events leave in the old generation is collected when the heap has doubled, not when it is four times as large.
setFlagsFromString("--heap-growing-percent=100");

const stopping = new AbortController();
/** How many events the end of the process would lose; undefined while no agent runs. */
let eventsInMemory: (() => number) | undefined;
let stopsAskedFor = 0;

const terminal: Terminal = printingOnly({
  out: (line) => process.stdout.write(`${line}\n`),
  err: (line) => process.stderr.write(`${line}\n`),
  env: process.env,
  stopRequested: stopping.signal,
  onReload: (listener) => process.on("SIGHUP", listener),
  onStopAgain: (listener) => {
    eventsInMemory = listener;
  },
});

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    stopsAskedFor += 1;
    if (stopsAskedFor === 1) return stopping.abort();
    const lost = eventsInMemory?.() ?? 0;
    if (eventsInMemory !== undefined && stopsAskedFor === 2) {
      return terminal.err(`still stopping: a third signal ends the process at once and loses ${lost} events in memory`);
    }
    if (lost > 0) terminal.err(`ended by a further signal: ${lost} events in memory are lost`);
    process.exit(lost > 0 ? exitCodes.eventsLost : exitCodes.failure);
  });
}

// A promise that a plugin forgot must not take the agent and its waiting events down.
process.on("unhandledRejection", (error) => terminal.err(`unhandled rejection: ${reasonOf(error)}`));

// While a plugin never settles its promise nothing else may be open; the program ends when its command does, not before.
const open = setInterval(() => {}, 2 ** 30);
process.exitCode = await createProgram(terminal).run(process.argv.slice(2));
clearInterval(open);

// A plugin that hangs while it loads, or forgets a timer, must not keep a command from ending.
setTimeout(() => process.exit(), 5000).unref();
