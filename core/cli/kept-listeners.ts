/** Events of the process that the program listens to, and those by which Node itself begins and ends to watch signals. */
const KEPT: ReadonlySet<string | symbol> = new Set([
  ...["SIGINT", "SIGTERM", "SIGHUP", "exit", "message", "disconnect", "worker", "newListener", "removeListener"],
  ...["uncaughtException", "uncaughtExceptionMonitor", "unhandledRejection"],
]);

/**
 * Keeps a plugin, or a package of it, from removing the listeners of others with `process.removeAllListeners`: without them a signal
 * would end an agent at once, with its events in memory. Its own it can remove with `process.off`.
 */
export function keepListeners(): void {
  const removeAll = process.removeAllListeners.bind(process);
  process.removeAllListeners = (name?: string | symbol) => {
    const names = name === undefined ? process.eventNames() : [name];
    for (const one of names) if (!KEPT.has(one)) removeAll(one);
    return process;
  };
}
