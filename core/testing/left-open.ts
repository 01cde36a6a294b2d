import { setTimeout } from "node:timers/promises";
import { failure } from "./expectations.js";

type Counts = ReadonlyMap<string, number>;

/** What keeps the process alive now, by kind. */
export function activeResources(): Counts {
  const counts = new Map<string, number>();
  for (const name of process.getActiveResourcesInfo()) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/** Throws when there is more than before. */
export function assertNothingOpened(before: Counts, when: string): void {
  const left = further(before);
  if (left.length > 0) throw failure(`${when} there is still open: ${left.join(", ")} (as Node names it)`);
}

const MOST_MILLIS = 3000;
const PAUSE_MILLIS = 5;

/** The system closes a handle a little after the call. */
export async function assertGone(before: Counts, when: string): Promise<void> {
  const end = performance.now() + MOST_MILLIS;
  while (further(before).length > 0 && performance.now() < end) await setTimeout(PAUSE_MILLIS);
  assertNothingOpened(before, when);
}

function further(before: Counts): readonly string[] {
  return [...activeResources()]
    .filter(([name, count]) => lasting.test(name) && count > (before.get(name) ?? 0))
    .map(([name]) => name);
}

// What ends by itself, such as the reading of a file, is no leak.
const lasting = /^(Timeout|Immediate|.*(Server|Socket|Pipe|UDP|Worker|MessagePort|FSEvent|Process|Signal|Stat).*)$/;
