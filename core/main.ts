#!/usr/bin/env node
import { setFlagsFromString } from "node:v8";
import { exitCodes, printingOnly, type Terminal } from "./cli/command.js";
import { createProgram } from "./cli/program.js";
import { reasonOf } from "./sdk/index.js";

// The young generation is small: helper threads cost more CPU time to collect it than they save.
setFlagsFromString("--no-parallel-scavenge");
// V8 would allocate objects of kinds that survived a collection in the old generation; dead events there keep all that
// they refer to until a full collection (decision 0086).
setFlagsFromString("--no-allocation-site-pretenuring");
// The old generation is collected when the heap has doubled, not when it is four times as large.
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
  onEnter(listener) {
    if (!process.stdin.isTTY) return () => {};
    process.stdin.on("data", listener);
    return () => process.stdin.off("data", listener).pause();
  },
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

// An unhandled rejection of a plugin must not end the agent and lose its waiting events.
process.on("unhandledRejection", (error) => terminal.err(`unhandled rejection: ${reasonOf(error)}`));

// Keeps the process alive until its command ends, even when a pending promise of a plugin is all that is left.
const open = setInterval(() => {}, 2 ** 30);
process.exitCode = await createProgram(terminal).run(process.argv.slice(2));
clearInterval(open);

// A plugin that hangs while it loads, or leaves a timer, must not prevent a command from ending.
setTimeout(() => process.exit(), 5000).unref();
