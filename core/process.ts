import { constants } from "node:os";
import { dirname } from "node:path";
import { exitCodes, printingOnly, type Terminal } from "./cli/command.js";
import { keepListeners } from "./cli/kept-listeners.js";
import { createProgram } from "./cli/program.js";
import { RepeatedLines } from "./cli/repeated-lines.js";
import { typedProgram } from "./cli/typed-program.js";
import { takeRole } from "./cli/workers/role.js";
import type { Supervision } from "./cli/workers/worker-process.js";
import { isError, stacksOf } from "./sdk/causes.js";
import { counted } from "./sdk/counted.js";
import { codeOf, reasonOf } from "./sdk/index.js";

const signals = ["SIGINT", "SIGTERM"] as const;
type Signal = (typeof signals)[number];

const stopping = new AbortController();
/** How many events the end of the process would lose; undefined while no agent runs. */
let eventsInMemory: (() => number) | undefined;
let stopsAskedFor = 0;
let endsInOrder = false;
let interruptedBy: Signal | undefined;
let listens = false;
let isOutputIncomplete = false;
/** Before there was an agent that could. */
let wasAskedToReload = false;
/** Takes errors of plugins that nobody caught; undefined while no agent with plugins of others runs. */
let takeStray: ((error: unknown) => boolean) | undefined;
let suspected: readonly string[] = [];

const role = takeRole(process.env, process.connected === true);
/** Of a worker, from the time before its command begins. */
let supervision: Supervision | undefined;

const terminal: Terminal = printingOnly({
  out: (line) => process.stdout.write(`${line}\n`),
  err: (line) => process.stderr.write(`${line}\n`),
  env: process.env,
  program: typedProgram({ file: process.argv[1] ?? "", path: process.env["PATH"], folder: process.cwd() }),
  // NO_COLOR, FORCE_COLOR and TERM count.
  screen: process.stdout.isTTY ? { colors: process.stdout.hasColors() } : undefined,
  get stopRequested() {
    listen();
    return stopping.signal;
  },
  endsInOrder: () => {
    endsInOrder = true;
  },
  interruptible,
  onEnter(listener) {
    if (!process.stdin.isTTY) return () => {};
    process.stdin.on("data", listener);
    return () => process.stdin.off("data", listener).pause();
  },
  ...(role === undefined ? {} : { worker: { role, ready: () => supervision?.ready() } }),
  onReload: (listener) => {
    if (supervision !== undefined) supervision.onReload(listener);
    else {
      process.on("SIGHUP", listener);
      if (wasAskedToReload) listener();
    }
  },
  onStopAgain: (listener) => {
    eventsInMemory = listener;
  },
  onStrayError: (listener, suspects) => {
    takeStray = listener;
    suspected = suspects;
    process.on("uncaughtException", endUnlessTaken);
  },
});

keepListeners();

// A umask that takes rights from the owner would make folders in which the process itself could not write.
process.umask(process.umask(0o077) & 0o077);

/** Milliseconds that a command which does not end in order has to clean up. */
const timeAfterSignal = 2000;

const isAgent = process.argv[2] === "run";

// Another command that never asks is ended by the system, even while code of a plugin blocks the process; but the system ends no
// process with number 1, the first one of a container.
if (isAgent || process.pid === 1) listen();

// Noted for an agent that is loading or waits for its folders; that the signal does not end the process is seen to by the entry.
if (isAgent)
  process.once("SIGHUP", () => {
    wasAskedToReload = true;
  });

function listen(): void {
  if (listens || role !== undefined) return;
  listens = true;
  for (const signal of signals) process.on(signal, stop);
}

/**
 * A listener of JavaScript waits for code that blocks the process, and so would whoever sends the signal. The first process of a
 * container is ended by no signal that nobody listens to.
 */
async function interruptible<T>(work: () => Promise<T>): Promise<T> {
  const silenced = (process.pid === 1 ? [] : signals).map((signal) => ({
    signal,
    listeners: process.listeners(signal),
  }));
  for (const { signal, listeners } of silenced) for (const listener of listeners) process.off(signal, listener);
  try {
    return await work();
  } finally {
    for (const { signal, listeners } of silenced) for (const listener of listeners) process.on(signal, listener);
  }
}

function stop(signal: Signal): void {
  if (hasEnded) process.exit();
  stopsAskedFor += 1;
  // An agent that is loading has nothing to put in order.
  if (isAgent && role === undefined && !endsInOrder) end(exitCodes.success);
  if (!endsInOrder) {
    const endNow = () => end(endedBy(signal));
    if (stopsAskedFor > 1) endNow();
    setTimeout(endNow, timeAfterSignal).unref();
    interruptedBy = signal;
  }
  if (stopsAskedFor === 1) stopping.abort();
  else stopAgain();
}

function stopAgain(): void {
  const lost = eventsInMemory?.() ?? 0;
  if (eventsInMemory !== undefined && stopsAskedFor === 2) {
    terminal.err(
      `still stopping: a third signal ends the process at once and loses ${counted(lost, "event")} in memory`,
    );
    return;
  }
  terminal.err(
    `ended by a further signal, before the agent had stopped: ${counted(lost, "event")} in memory ${lost === 1 ? "is" : "are"} lost`,
  );
  end(lost > 0 ? exitCodes.eventsLost : exitCodes.failure);
}

/** As a shell says it. */
function endedBy(signal: Signal): number {
  return 128 + constants.signals[signal];
}

const rejections = new RepeatedLines((line) => terminal.err(line));

// An unhandled rejection of a plugin must not end the agent and lose its waiting events.
process.on("unhandledRejection", (error) => {
  if (takeStray?.(error) !== true) rejections.say(`unhandled rejection: ${reasonOf(error)}`);
});

/** As Node does without a listener: the state of the agent is not known any more. */
function endUnlessTaken(error: unknown): void {
  if (takeStray?.(error) === true) {
    isEndKnown = hasEnded;
    return;
  }
  terminal.err(`uncaught exception: ${stacksOf(error)}`);
  const remedy = isError(error)
    ? 'a client or socket of a plugin needs a listener for its event "error"'
    : "what was thrown is no Error and has no stack; throw an Error";
  terminal.err(`its stack names no plugin; plugins of others are ${suspected.join(", ")}: ${remedy}`);
  end(exitCodes.failure);
}

/** True once what ends the process is known: its command has ended, a signal, an error that was printed. */
let isEndKnown = false;
/** True once its command has. */
let hasEnded = false;

function end(exitCode: number): void {
  isEndKnown = true;
  process.exit(exitCode);
}

process.on("uncaughtExceptionMonitor", () => {
  isEndKnown = true;
});

// The code may be 0, with which a supervisor would not start the agent again and a failed test would pass.
process.on("exit", (exitCode) => {
  if (isEndKnown) return;
  terminal.err(
    `deneb: a plugin or a package of it ended the process by process.exit(${exitCode}), before the command did`,
  );
  process.exitCode = exitCode === 0 ? exitCodes.failure : exitCode;
});

// Whoever reads may go away, as in `deneb docs | head`: what comes then is read by nobody, and no reason to end. A full disk is
// none for an agent either, whose log has its own way; a command whose output is not complete says so at its end.
process.stdout.on("error", (error) => {
  if (codeOf(error) === "EPIPE" || isOutputIncomplete) return;
  isOutputIncomplete = true;
  terminal.err(`deneb: writing to the standard output failed: ${reasonOf(error)}`);
  process.exitCode ||= exitCodes.failure;
});
process.stderr.on("error", () => {});

void runCommand();

async function runCommand(): Promise<void> {
  // Keeps the process alive until its command ends, even when a pending promise of a plugin is all that is left.
  const open = setInterval(() => {}, 2 ** 30);
  if (role !== undefined) supervision = await supervised(dirname(role.socket));
  const exitCode = await createProgram(terminal).run(process.argv.slice(2));
  isEndKnown = true;
  hasEnded = true;
  process.exitCode = interruptedBy === undefined ? exitCode : endedBy(interruptedBy);
  if (isOutputIncomplete) process.exitCode ||= exitCodes.failure;
  // Else Node takes its heap down first, with its listeners of signals, and a further one would end the process without that code.
  process.once("beforeExit", () => process.exit());
  clearInterval(open);
  // The way to a supervisor would keep the process.
  process.channel?.unref();
  // A plugin that hangs while it loads, or leaves a timer, must not prevent a command from ending.
  setTimeout(endAfterPlugins, 5000).unref();
}

function endAfterPlugins(): void {
  const open = [...new Set(process.getActiveResourcesInfo())].filter((name) => !OF_TERMINAL.test(name));
  if (suspected.length > 0 && open.length > 0)
    terminal.err(
      `the process was kept for 5 s by what is still open: ${open.join(", ")}; a plugin must close it in its stop: ${suspected.join(", ")}`,
    );
  process.exit();
}

/** Standard input and output, as Node names them. */
const OF_TERMINAL = /^(TTY|Pipe)Wrap$/;

async function supervised(sockets: string): Promise<Supervision> {
  const { followSupervisor } = await import("./cli/workers/worker-process.js");
  return followSupervisor({ sockets, stop: () => stop("SIGTERM"), eventsInMemory: () => eventsInMemory?.() ?? 0 });
}
