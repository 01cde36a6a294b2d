import { constants, type PerformanceEntry, PerformanceObserver } from "node:perf_hooks";
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";

/** Milliseconds at the start of a process, when much is allocated once. */
const STARTING = 2000;
/** Young collections within a number of milliseconds that ask for a larger young generation. */
const BUSY = { collections: 10, within: 1000 };

const MEBIBYTE = 1024 * 1024;
/** Objects of one step; about 100 KB. */
const STEP = 1000;
/** The young generation grows no further, until a thread begins: its heap makes V8 set a factor below 2 to 2. */
const HELD = "--semi-space-growth-factor=1";
/** V8 grows it after one or two collections of its first size, 1 MiB. */
const MOST_STEPS = 200;

/**
 * Keeps each half of the young generation at its first size, 1 MiB, while it is seldom collected, and grows it to this number
 * of mebibytes once: an agent that waits needs less memory, and starts sooner.
 */
export function growYoungGenerationWhenBusy(mebibytes: number): void {
  const hold = () => setFlagsFromString(HELD);
  hold();
  process.on("worker", (worker) => worker.once("online", hold));
  const isBusy = busyness();
  const observer = new PerformanceObserver((list) => {
    if (!list.getEntries().some(isBusy)) return;
    observer.disconnect();
    limitYoungGeneration(mebibytes);
  });
  setTimeout(() => observer.observe({ entryTypes: ["gc"] }), STARTING).unref();
}

/** Whether this collection is the last one of many that followed each other closely. */
function busyness(): (entry: PerformanceEntry) => boolean {
  let latest: readonly number[] = [];
  return (entry) => {
    const { startTime } = entry;
    if (kindOf(entry) !== constants.NODE_PERFORMANCE_GC_MINOR) return false;
    latest = [...latest, startTime].slice(-BUSY.collections);
    return latest.length === BUSY.collections && startTime - (latest[0] ?? startTime) < BUSY.within;
  };
}

function kindOf(entry: object): unknown {
  if (!("detail" in entry) || typeof entry.detail !== "object" || entry.detail === null) return undefined;
  return "kind" in entry.detail ? entry.detail.kind : undefined;
}

/**
 * Lets V8 grow each half of the young generation to this number of mebibytes and no further; one that is larger already, by
 * an option of Node, stays. V8 has no call for that in a process that runs: it grows the space by a factor, after collections
 * that much survived, and takes the factor from a flag each time.
 */
export function limitYoungGeneration(mebibytes: number): void {
  // It grew before if a thread began while much was allocated.
  const half = halfMebibytes();
  const factor = Math.floor(mebibytes / half);
  if (factor > 1) grow(factor, 2 * factor * half * MEBIBYTE);
  setFlagsFromString(HELD);
}

/** Allocates until both halves have this size together. */
function grow(factor: number, bytes: number): void {
  setFlagsFromString(`--semi-space-growth-factor=${factor}`);
  const held: object[][] = [];
  for (let step = 0; step < MOST_STEPS && committedBytes() < bytes; step += 1) {
    held.push(Array.from({ length: STEP }, (_, at) => ({ step, at, held })));
  }
}

/** What a half has room for, without the heads of its pages; the other one may not be there yet. */
function halfMebibytes(): number {
  const { space_used_size: used = 0, space_available_size: free = 0 } = youngGeneration() ?? {};
  return Math.max(1, Math.ceil((used + free) / MEBIBYTE));
}

function committedBytes(): number {
  return youngGeneration()?.space_size ?? 0;
}

function youngGeneration() {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space");
}
