import { setTimeout as pause } from "node:timers/promises";
import type { BenchCase } from "./case.js";
import { type LoadResult, load } from "./load.js";
import { notificationBodies } from "./notifications.js";
import { type SystemUnderTest, startSystem } from "./systems.js";
import { cpuSecondsOf, usageOf } from "./usage.js";

/** One run of a case. */
export interface Measurement {
  readonly acceptedPerSecond: number;
  /** Undefined where nothing is stored. */
  readonly storedPerSecond?: number;
  readonly load: LoadResult;
  /** Answers at half of the highest rate, in milliseconds. */
  readonly half: LoadResult;
  /** From POST to visible row at 10 a second, in milliseconds; undefined where nothing is stored. */
  readonly visible?: { readonly p50: number; readonly p99: number };
  /** Cores that the process used while it was under full load. */
  readonly agentCores?: number;
  readonly databaseCores?: number;
  readonly peakMebibytes?: number;
  readonly startMilliseconds: number;
}

export interface MeasureOptions {
  readonly seconds: number;
  readonly connections: number;
}

/** Full load, half load, then single notifications; counts in the end that every accepted one is a row. */
export async function measure(bench: BenchCase, options: MeasureOptions): Promise<Measurement> {
  const system = await startSystem(bench);
  try {
    return await measureStarted(bench, system, options);
  } finally {
    await system.stop();
  }
}

async function measureStarted(
  bench: BenchCase,
  system: SystemUnderTest,
  options: MeasureOptions,
): Promise<Measurement> {
  const { store } = system;
  const order = { url: system.notifyUrl, ...options, entities: bench.entities, format: bench.format };
  await load({ ...order, seconds: 2 }); // Warm: code is compiled, tables are made.
  const rows = await settledRows(system);
  const stored = await system.persisted?.();

  const before = usageOf(system.pid);
  const databaseBefore = databaseCpu(system);
  const started = performance.now();
  const full = await load(order);
  if (stored !== undefined) await persistedReaches(system, stored + full.accepted);
  const elapsed = (performance.now() - started) / 1000;
  const after = usageOf(system.pid);
  const databaseCores = (databaseCpu(system) - databaseBefore) / elapsed;

  const half = await load({ ...order, rate: Math.max(1, Math.floor(full.accepted / full.seconds / 2)) });
  const there = await settledRows(system);
  if (store !== undefined && there < rows + full.accepted + half.accepted) {
    throw new Error(`${bench.name}: ${full.accepted + half.accepted} accepted, but only ${there - rows} rows more`);
  }
  const visible = await visibleLatency(bench, system);
  return {
    acceptedPerSecond: full.accepted / full.seconds,
    load: full,
    half,
    startMilliseconds: system.startMilliseconds,
    ...(store === undefined ? {} : { storedPerSecond: full.accepted / elapsed }),
    ...(visible === undefined ? {} : { visible }),
    ...(before === undefined || after === undefined
      ? {}
      : { agentCores: (after.cpuSeconds - before.cpuSeconds) / elapsed, peakMebibytes: after.peakMebibytes }),
    ...(Number.isNaN(databaseCores) ? {} : { databaseCores }),
  };
}

function databaseCpu({ store }: SystemUnderTest): number {
  return store?.command === undefined ? Number.NaN : cpuSecondsOf(store.command);
}

/** The rows there are when the store has stopped growing; 0 where nothing is stored. */
async function settledRows({ store }: SystemUnderTest): Promise<number> {
  if (store === undefined) return 0;
  let rows = await store.countRows();
  for (let last = -1; rows !== last; rows = await store.countRows()) {
    last = rows;
    await pause(500);
  }
  return rows;
}

async function persistedReaches({ persisted }: SystemUnderTest, events: number): Promise<void> {
  if (persisted === undefined) return;
  await until(async () => (await persisted()) >= events, 5);
}

const PATIENCE_MILLISECONDS = 60_000;

async function until(done: () => Promise<boolean>, pauseMilliseconds: number): Promise<void> {
  const deadline = performance.now() + PATIENCE_MILLISECONDS;
  while (!(await done())) {
    if (performance.now() > deadline) throw new Error(`waited ${PATIENCE_MILLISECONDS} ms for what was accepted`);
    await pause(pauseMilliseconds);
  }
}

const LOOKS = 50;

/** Posts ten notifications a second, one at a time, and looks until each is a row. */
async function visibleLatency(
  bench: BenchCase,
  { store, notifyUrl }: SystemUnderTest,
): Promise<{ readonly p50: number; readonly p99: number } | undefined> {
  if (store === undefined || bench.format !== "ld" || bench.sink["attr_persistence"] === "row") return undefined;
  if (bench.sink["data_model"] !== undefined) return undefined;
  const [body = ""] = notificationBodies(1, bench.format);
  const headers = { "Content-Type": "application/ld+json", "Fiware-Service": "bench" };
  const latencies: number[] = [];
  for (let look = 0; look < LOOKS; look += 1) {
    const name = `look ${look}`;
    const { data, ...envelope } = JSON.parse(body);
    const marked = JSON.stringify({ ...envelope, data: [{ ...data[0], name: { type: "Property", value: name } }] });
    const posted = performance.now();
    const response = await fetch(notifyUrl, { method: "POST", headers, body: marked });
    await response.arrayBuffer();
    await until(() => store.holds(0, name), 0);
    latencies.push(performance.now() - posted);
    await pause(100);
  }
  latencies.sort((a, b) => a - b);
  return { p50: latencies[LOOKS / 2] ?? Number.NaN, p99: latencies[LOOKS - 1] ?? Number.NaN };
}
