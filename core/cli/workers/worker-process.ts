import cluster from "node:cluster";
import { rmdirSync } from "node:fs";
import { isSupervisorMessage, type WorkerMessage } from "./role.js";

/** Milliseconds between two reports of a worker, by which its supervisor sees that it is not frozen. */
const REPORT = 500;

export interface Followed {
  /** Folder of the sockets, which the last worker removes when the supervisor is gone. */
  readonly sockets: string;
  /** A stop is asked for; called once. */
  stop(): void;
  /** Events that the end of the process would lose. */
  eventsInMemory(): number;
}

/** The way of a worker to its supervisor. */
export interface Supervision {
  ready(): void;
  onReload(listener: () => void): void;
}

/**
 * Lets the supervisor stop this process: signals, which a terminal or a service manager sends to all processes of a group, are
 * for the supervisor. When that is gone, the worker stops in order: nobody would start it again.
 */
export function followSupervisor({ sockets, stop, eventsInMemory }: Followed): Supervision {
  let reload: (() => void) | undefined;
  /** Before there was an agent that could: it may have read the file already. */
  let wasAskedToReload = false;
  let isStopping = false;
  const report = () => say({ deneb: "in-memory", events: eventsInMemory() });
  report();
  setInterval(report, REPORT).unref();
  const stopOnce = () => {
    if (isStopping) return;
    isStopping = true;
    report();
    stop();
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
  process.on("message", (message: unknown) => {
    if (!isSupervisorMessage(message)) return;
    if (message.deneb === "stop") stopOnce();
    else if (reload === undefined) wasAskedToReload = true;
    else reload();
  });
  cluster.worker?.on("disconnect", () => {
    // Else Node ends the process at once.
    if (cluster.worker !== undefined) cluster.worker.exitedAfterDisconnect = true;
    process.on("exit", () => removeIfEmpty(sockets));
    stopOnce();
  });
  const onReload = (listener: () => void) => {
    reload = listener;
    if (wasAskedToReload) listener();
  };
  return { ready: () => say({ deneb: "ready" }), onReload };
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Another worker still uses it.
  }
}

function say(message: WorkerMessage): void {
  // A supervisor that is gone hears nothing, and its end stops this process.
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}
