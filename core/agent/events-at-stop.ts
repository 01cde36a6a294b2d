import { randomUUID } from "node:crypto";
import { readableLetter } from "../pipeline/dead-letters/dead-letter.js";
import type { DeadLetters } from "../pipeline/dead-letters/dead-letters.js";
import type { Erasures } from "../pipeline/erasures.js";
import { type Event, type Logger, letterHeader, reasonOf } from "../sdk/index.js";
import type { Clock } from "../tokens.js";
import { keeperOf, type RunningChannel, type RunningSink } from "./component.js";

/** Milliseconds between two checks of a draining channel. */
const PAUSE = 100;
/** Milliseconds without progress after which a durable channel is not drained further. */
const NO_PROGRESS = 5_000;

/**
 * Stores what waits for a sink, within the grace period. Behind a durable channel only while something is stored, and a write
 * that takes too long is ended; what is left stays in the channel for the next start.
 */
export async function drain(running: RunningSink, sinks: readonly RunningSink[], grace: AbortSignal): Promise<void> {
  if (!running.channel.durable) return await running.feed.drain(grace);
  await drainWhileStoring(running, sinks, { grace, longestPause: NO_PROGRESS });
}

interface DrainTerms {
  readonly grace: AbortSignal;
  /** Milliseconds without progress after which a write is ended; absent: when the grace period is over. */
  readonly longestPause?: number;
}

/** Stores what waits for a sink until a write fails. */
export async function drainWhileStoring(
  running: RunningSink,
  sinks: readonly RunningSink[],
  { grace, longestPause = Number.POSITIVE_INFINITY }: DrainTerms,
): Promise<void> {
  const { feed, channel } = running;
  const standing = new AbortController();
  const signal = AbortSignal.any([grace, standing.signal]);
  const fed = sinks.filter((one) => one.feed === feed);
  // Of a size that others change, too, this agent's progress cannot be read.
  const progress = () => (channel.isExact ? channel.size : channel.counters.takesOk);
  let size = progress();
  let waited = 0;
  let halted: Promise<void> | undefined;
  const check = () => {
    waited = progress() === size ? waited + PAUSE : 0;
    size = progress();
    if (fed.every(isFailing)) halted ??= feed.halt(signal);
    if (waited >= longestPause) standing.abort();
  };
  const timer = setInterval(check, PAUSE);
  try {
    check();
    await feed.drain(signal);
    await halted;
  } finally {
    clearInterval(timer);
  }
}

function isFailing({ sink, keeping }: RunningSink): boolean {
  return sink.health.failure !== undefined || keeping.failure !== undefined;
}

interface KeepingParts {
  readonly deadLetters: DeadLetters;
  readonly clock: Clock;
  readonly log: Logger;
  readonly erasures: Pick<Erasures, "erasedAmong">;
}

/**
 * Keeps what a channel that forgets still holds at a stop as dead letters of a sink that takes from it. Resolves to how many
 * events could not be kept, and are lost with the process.
 */
export async function keepAtStop(
  { name, channel, outlet }: RunningChannel,
  sink: RunningSink | undefined,
  { deadLetters, clock, log, erasures }: KeepingParts,
): Promise<number> {
  let kept = 0;
  const under = sink && keeperOf(sink);
  try {
    while (channel.mayHold && under !== undefined) {
      const taken = channel.openTake();
      const events = await taken.take(channel.transactionCapacity, AbortSignal.abort());
      if (events.length === 0) break;
      // A replayed event has its letter: it is replayed again by the next process.
      const erased = new Set(erasures.erasedAmong(events));
      const isKept = (event: Event) => event.headers[letterHeader] === undefined && !erased.has(event);
      const open = outlet.settlements.open(events).filter(isKept);
      await deadLetters.keep(open.map((event) => letterOf(event, under, clock)));
      kept += open.length;
      await taken.commit();
    }
  } catch (error) {
    log.error({ channel: name, reason: reasonOf(error) }, "events of a stopped channel could not be kept");
  }
  if (kept > 0 && under !== undefined) {
    const fields = { channel: name, sink: under, events: kept, file: deadLetters.fileOf(under) };
    log.error(fields, "events kept as dead letters: the agent stopped before they were stored");
  }
  const lost = channel.size ?? 0;
  if (lost > 0) log.error({ channel: name, events: lost }, "events lost: the agent stopped");
  return lost;
}

function letterOf(event: Event, sink: string, clock: Clock) {
  const message = "stopping the agent: the event was not stored within the grace period";
  const about = { id: randomUUID(), time: clock.now().toISOString(), sink, attempts: 0, code: "STOPPED" };
  return readableLetter({ ...about, reason: "stopped", message, event });
}
