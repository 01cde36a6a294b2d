import type { BenchCase } from "./case.js";
import { fullLoad } from "./full-load.js";
import type { LoadGenerator, LoadResult } from "./load.js";
import { attributesOf } from "./notifications.js";
import { postEach } from "./post.js";
import { newProfileFolder, type Place, placesIn, type Span } from "./profile.js";
import { eventsOfRequest, requestsOf } from "./requests.js";
import { RowCheck, type RowCount } from "./rows.js";
import { type SystemUnderTest, startSystem } from "./systems.js";
import { unwinding } from "./unwinding.js";
import { UNCOUNTED, type VisibleLatency, visibleLatency } from "./visible.js";

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
  /** CPU time of the process for one notification. */
  readonly agentMicroseconds?: number;
  /** Of it that of the main thread. */
  readonly mainThreadMicroseconds?: number;
  /** Where the main thread was busy in the full load; undefined where none was asked for, empty where there is none. */
  readonly places?: readonly Place[];
  readonly databaseCores?: number;
  /** Of the servers of the log that agents share. */
  readonly logCores?: number;
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
  /** A folder for CPU profiles. */
  readonly profile?: string;
}

const WARM_SECONDS = 2;

/** Full load, half load, then single notifications; counts in the end that every accepted one is a row. */
export async function measure(bench: BenchCase, options: MeasureOptions): Promise<Measurement> {
  const profiles = options.profile === undefined ? undefined : await newProfileFolder(options.profile, bench.name);
  const system = await startSystem(bench, { node: profiles?.options ?? [] });
  const { span, ...measured } = await unwinding(system.stop, async () => await measureStarted(bench, system, options));
  return profiles === undefined ? measured : { ...measured, places: await placesIn(profiles, span) };
}

async function measureStarted(
  bench: BenchCase,
  system: SystemUnderTest,
  { generator, seconds, connections, looks }: MeasureOptions,
): Promise<Measurement & { readonly span: Span }> {
  const { bodies } = bench;
  const requests = requestsOf(bodies, system.service);
  const events = eventsOfRequest(requests);
  const check = new RowCheck(system, bench.sink["attr_persistence"] === "row" ? attributesOf() : 1);
  const order = { url: system.notifyUrl, service: system.service, bodies, seconds, connections };
  check.add(requests[0]?.events ?? 0); // The start posted one.
  await postEach({ url: system.notifyUrl, requests, connections }); // Makes every table.
  check.add(requests.length * events.mean);
  check.addLoad(await generator({ ...order, seconds: Math.min(WARM_SECONDS, seconds) }), events);
  await check.settled();

  const full = await fullLoad(async () => await generator(order), events, system);
  check.addLoad(full.load, events);
  await check.settled();

  const rate = Math.max(1, Math.floor(full.acceptedPerSecond / 2));
  const half = looks === 0 ? undefined : await generator({ ...order, rate });
  if (half !== undefined) check.addLoad(half, events);
  const visible = await visibleLatency(bench, system, looks);
  if (visible !== undefined) check.add(looks + UNCOUNTED);
  const rows = await check.settled();
  return {
    ...full,
    startMilliseconds: system.startMilliseconds,
    ...(half === undefined ? {} : { half }),
    ...(visible === undefined ? {} : { visible }),
    ...(rows === undefined ? {} : { rows }),
  };
}
