import type { BenchCase } from "./case.js";
import type { LoadGenerator, LoadResult } from "./load.js";
import { attributesOf, headersOf, notificationBodies } from "./notifications.js";
import { postEach } from "./post.js";
import { RowCheck, type RowCount, reaches } from "./rows.js";
import { type SystemUnderTest, startSystem } from "./systems.js";
import { unwinding } from "./unwinding.js";
import { cpuSecondsBetween, cpuSecondsOf, usageOf } from "./usage.js";
import { type VisibleLatency, visibleLatency } from "./visible.js";

/** One run of a case. Rates are of notifications. */
export interface Measurement {
  readonly acceptedPerSecond: number;
  /** Undefined where nothing is stored. */
  readonly storedPerSecond?: number;
  readonly load: LoadResult;
  /** Answers at half of the highest rate. */
  readonly half?: LoadResult;
  /** Undefined where nothing is stored. */
  readonly visible?: VisibleLatency;
  readonly rows?: RowCount;
  /** Cores that the process used from the first request of the full load until all of it was stored. */
  readonly agentCores?: number;
  readonly databaseCores?: number;
  /** The most resident memory from the start to the end of the full load. */
  readonly peakMebibytes?: number;
  readonly startMilliseconds: number;
}

export interface MeasureOptions {
  readonly generator: LoadGenerator;
  /** Length of the full load, and of the half load. */
  readonly seconds: number;
  readonly connections: number;
  /** Notifications that are followed from POST to row; 0 leaves out the half load too. */
  readonly looks: number;
}

const WARM_SECONDS = 2;

/** Full load, half load, then single notifications; counts in the end that every accepted one is a row. */
export async function measure(bench: BenchCase, options: MeasureOptions): Promise<Measurement> {
  const system = await startSystem(bench);
  return await unwinding(system.stop, async () => await measureStarted(bench, system, options));
}

async function measureStarted(
  bench: BenchCase,
  system: SystemUnderTest,
  { generator, seconds, connections, looks }: MeasureOptions,
): Promise<Measurement> {
  const { bodies } = bench;
  const events = bodies.perNotification ?? 1;
  const check = new RowCheck(system, bench.sink["attr_persistence"] === "row" ? attributesOf(bodies.format) : 1);
  const order = { url: system.notifyUrl, service: system.service, bodies, seconds, connections };
  check.add(events); // The start posted one.
  check.add(await everyEntityOnce(bench, system, connections));
  check.addLoad(await generator({ ...order, seconds: Math.min(WARM_SECONDS, seconds) }), events);
  await check.settled();

  const full = await fullLoad(async () => await generator(order), events, system);
  check.addLoad(full.load, events);
  await check.settled();

  const rate = Math.max(1, Math.floor(full.acceptedPerSecond / 2));
  const half = looks === 0 ? undefined : await generator({ ...order, rate });
  if (half !== undefined) check.addLoad(half, events);
  const visible = await visibleLatency(bench, system, looks);
  if (visible !== undefined) check.add(looks);
  const rows = await check.settled();
  return {
    ...full,
    startMilliseconds: system.startMilliseconds,
    ...(half === undefined ? {} : { half }),
    ...(visible === undefined ? {} : { visible }),
    ...(rows === undefined ? {} : { rows }),
  };
}

/** Makes every table; returns the events posted. */
async function everyEntityOnce({ bodies }: BenchCase, system: SystemUnderTest, connections: number): Promise<number> {
  const { notifyUrl: url, service } = system;
  const all = notificationBodies(bodies);
  await postEach({ url, headers: headersOf(bodies.format, service), bodies: all, connections });
  return bodies.entities;
}

type Full = Pick<
  Measurement,
  "acceptedPerSecond" | "storedPerSecond" | "load" | "agentCores" | "databaseCores" | "peakMebibytes"
>;

/**
 * As much as the system takes in, until that is stored. The rate of storing is that at the end of the load, or that
 * until everything was stored when it is higher: the last events may wait for a full batch, which is no lack of speed.
 */
async function fullLoad(
  run: () => Promise<LoadResult>,
  eventsPerRequest: number,
  { server: { pid }, store, ledger }: SystemUnderTest,
): Promise<Full> {
  const storedBefore = (await ledger?.())?.stored ?? 0;
  const before = usageOf(pid);
  const databaseBefore = store?.command === undefined ? undefined : cpuSecondsOf(store.command);
  const load = await run();
  const since = () => Math.max(load.seconds, (Date.now() - load.startedAt) / 1000);
  const events = load.accepted * eventsPerRequest;
  let perSecond = events / load.seconds;
  let elapsed = load.seconds;
  if (ledger !== undefined) {
    const atEnd = Math.min(events, (await ledger()).stored - storedBefore) / since();
    await reaches(
      "events stored",
      async () => (await ledger()).stored,
      () => storedBefore + events,
    );
    elapsed = since();
    perSecond = Math.max(atEnd, events / elapsed);
  }
  const after = usageOf(pid);
  const databaseAfter = store?.command === undefined ? undefined : cpuSecondsOf(store.command);
  return {
    load,
    acceptedPerSecond: load.accepted / load.seconds,
    ...(store === undefined ? {} : { storedPerSecond: perSecond / eventsPerRequest }),
    ...(before === undefined || after === undefined
      ? {}
      : { agentCores: (after.cpuSeconds - before.cpuSeconds) / elapsed, peakMebibytes: after.peakMebibytes }),
    ...(databaseBefore === undefined || databaseAfter === undefined
      ? {}
      : { databaseCores: cpuSecondsBetween(databaseBefore, databaseAfter) / elapsed }),
  };
}
