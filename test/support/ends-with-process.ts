import type { ChildProcess } from "node:child_process";

const running = new Set<() => void>();

/** A file that fails while it loads stays as long as it has children: its tests, which would end them, do not run. */
const ends = [
  ["exit", endAll],
  ["uncaughtExceptionMonitor", endAll],
  ["SIGTERM", endBySignal],
] as const;

/**
 * A server that a test started ends at the latest with the process of its test file: also when that fails while it loads, or is
 * ended because it hangs. The result forgets it.
 */
export function endsWithProcess(end: () => void): () => void {
  if (running.size === 0) for (const [event, listener] of ends) process.on(event, listener);
  running.add(end);
  return () => {
    running.delete(end);
    if (running.size === 0) for (const [event, listener] of ends) process.off(event, listener);
  };
}

/** The same of a child of this process, which is returned. */
export function endingWithProcess<T extends ChildProcess>(child: T): T {
  const forget = endsWithProcess(() => child.kill("SIGKILL"));
  child.once("exit", forget);
  child.once("error", forget);
  return child;
}

/** With it a run ends the files that take too long, and all when it is stopped itself. */
function endBySignal(): void {
  // A test that is about the signal sees to the rest.
  if (process.listenerCount("SIGTERM") > 1) return;
  endAll();
  process.exit(128 + 15);
}

function endAll(): void {
  for (const end of running) {
    try {
      end();
    } catch {
      // It has ended, and a process that ends has nobody to tell.
    }
  }
}
