import type { LoadResult } from "./load.js";
import type { Measurement } from "./measure.js";
import type { Span } from "./profile.js";
import type { EventsOfRequest } from "./requests.js";
import { reaches } from "./rows.js";
import type { SystemUnderTest } from "./systems.js";
import { cpuSecondsBetween, cpuSecondsOf } from "./usage.js";

type Full = Pick<
  Measurement,
  | "acceptedPerSecond"
  | "storedPerSecond"
  | "load"
  | "agentCores"
  | "agentMicroseconds"
  | "mainThreadMicroseconds"
  | "databaseCores"
  | "logCores"
  | "peakMebibytes"
> & { readonly span: Span };

/** As much as the system takes in, until that is stored. */
export async function fullLoad(
  run: () => Promise<LoadResult>,
  events: EventsOfRequest,
  system: SystemUnderTest,
): Promise<Full> {
  const storing = await storingOf(system, events);
  const from = monotonicMicroseconds();
  const before = look(system);
  const load = await run();
  const { perSecond, elapsed } = await storing(load);
  const after = look(system);
  return {
    load,
    span: { from, to: monotonicMicroseconds() },
    acceptedPerSecond: load.accepted / load.seconds,
    ...(system.store === undefined ? {} : { storedPerSecond: perSecond }),
    ...processFigures(before, after, { load, elapsed }),
    ...(before.database === undefined || after.database === undefined
      ? {}
      : { databaseCores: cpuSecondsBetween(before.database, after.database) / elapsed }),
    ...(before.log === undefined || after.log === undefined
      ? {}
      : { logCores: cpuSecondsBetween(before.log, after.log) / elapsed }),
  };
}

function monotonicMicroseconds(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

type Look = ReturnType<typeof look>;

function look({ usage, store, logCommand }: SystemUnderTest) {
  return {
    process: usage(),
    database: store?.command === undefined ? undefined : cpuSecondsOf(store.command),
    log: logCommand === undefined ? undefined : cpuSecondsOf(logCommand),
  };
}

function processFigures(
  { process: before }: Look,
  { process: after }: Look,
  { load, elapsed }: { readonly load: LoadResult; readonly elapsed: number },
): Pick<Full, "agentCores" | "agentMicroseconds" | "mainThreadMicroseconds" | "peakMebibytes"> {
  if (before === undefined || after === undefined) return {};
  const seconds = after.cpuSeconds - before.cpuSeconds;
  return {
    agentCores: seconds / elapsed,
    agentMicroseconds: (seconds / load.accepted) * 1e6,
    mainThreadMicroseconds: ((after.mainThreadSeconds - before.mainThreadSeconds) / load.accepted) * 1e6,
    peakMebibytes: after.peakMebibytes,
  };
}

interface Storing {
  /** Notifications. */
  readonly perSecond: number;
  /** Seconds from the first request until everything was stored. */
  readonly elapsed: number;
}

/**
 * The rate of storing is that at the end of the load, or that until everything was stored when it is higher: the last
 * events may wait for a full batch, which is no lack of speed.
 */
async function storingOf(
  { ledger, stored }: SystemUnderTest,
  { fewest, most, mean }: EventsOfRequest,
): Promise<(load: LoadResult) => Promise<Storing>> {
  const receivedBefore = (await ledger?.())?.received ?? 0;
  const storedBefore = (await stored?.()) ?? 0;
  return async (load) => {
    if (stored === undefined) return { perSecond: load.accepted / load.seconds, elapsed: load.seconds };
    const since = () => Math.max(load.seconds, (Date.now() - load.startedAt) / 1000);
    // Where requests hold different numbers of events, only the agent knows how many came in.
    const asked = fewest === most ? undefined : (await ledger?.())?.received;
    const events = asked === undefined ? load.accepted * mean : asked - receivedBefore;
    const least = asked === undefined ? load.accepted * fewest : events;
    const atEnd = Math.min(events, (await stored()) - storedBefore) / since();
    await reaches("events stored", stored, () => storedBefore + least);
    const elapsed = since();
    return { perSecond: (least === events ? Math.max(atEnd, events / elapsed) : atEnd) / mean, elapsed };
  };
}
