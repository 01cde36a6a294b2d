import type { ChildProcess } from "node:child_process";

const running = new Set<() => void>();

/** A file that fails while it loads stays as long as it has children: its tests, which would end them, do not run. */
const ends = ["exit", "uncaughtExceptionMonitor"] as const;

/**
 * A server that a test started ends at the latest with the process of its test file: also when that fails while it loads, or is
 * ended because it hangs. The result forgets it.
 */
export function endsWithProcess(end: () => void): () => void {
  if (running.size === 0) for (const event of ends) process.on(event, endAll);
  running.add(end);
  return () => {
    running.delete(end);
    if (running.size === 0) for (const event of ends) process.off(event, endAll);
  };
}

/** The same of a child of this process, which is returned. */
export function endingWithProcess<T extends ChildProcess>(child: T): T {
  const forget = endsWithProcess(() => child.kill("SIGKILL"));
  child.once("exit", forget);
  child.once("error", forget);
  return child;
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
