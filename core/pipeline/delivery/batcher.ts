import { type Channel, type Event, onAbort, type TakeTransaction } from "../../sdk/index.js";
import { wait } from "./retry-policy.js";

/** More events than this are not written at once, whatever the channel allows: larger writes gain nothing. */
const largestWrite = 1000;
const noWaiting = AbortSignal.abort();

export interface BatchLimits {
  /** Number of events that triggers a write. */
  readonly batchSize: number;
  /** Seconds from the first event until the batch is complete even if it is not full. */
  readonly batchTimeout: number;
  /** Milliseconds from the first event, where that is less; 0: what is there is the batch; absent: batchTimeout counts alone. */
  readonly batchLinger?: number | undefined;
  readonly transactionCapacity: number;
}

/**
 * Takes the events of one batch: what is waiting, up to the channel's transactionCapacity; when that is fewer than
 * batchSize, more as they come until batchSize is reached or batchTimeout, or batchLinger, has passed since the first. Returns early
 * with what there is when the signal aborts.
 */
export async function takeBatch(
  transaction: TakeTransaction,
  limits: BatchLimits,
  signal: AbortSignal,
): Promise<readonly Event[]> {
  const most = Math.min(limits.transactionCapacity, Math.max(limits.batchSize, largestWrite));
  const first = await transaction.take(most, signal);
  if (first.length === 0 || first.length >= limits.batchSize || limits.batchLinger === 0) return first;
  return await gather(transaction, first, { ...limits, transactionCapacity: most }, signal);
}

async function gather(
  transaction: TakeTransaction,
  first: readonly Event[],
  limits: BatchLimits,
  signal: AbortSignal,
): Promise<readonly Event[]> {
  const events = [...first];
  const window = new AbortController();
  const close = () => window.abort();
  const { batchTimeout, batchLinger = Number.POSITIVE_INFINITY } = limits;
  const timer = setTimeout(close, Math.min(batchTimeout * 1000, batchLinger));
  const stopListening = onAbort(signal, close);
  try {
    while (events.length < limits.batchSize) {
      const more = await transaction.take(limits.transactionCapacity - events.length, window.signal);
      if (more.length === 0) break;
      events.push(...more);
    }
    return events;
  } finally {
    clearTimeout(timer);
    stopListening();
  }
}

/**
 * Several take transactions of a channel that look like one: together they hold more events than each of them may. Not
 * for channels with positions, which leave out what other open transactions hold.
 */
export class JoinedTakes implements TakeTransaction {
  readonly #channel: Pick<Channel, "openTake" | "transactionCapacity">;
  readonly #parts: TakeTransaction[] = [];
  #held = 0;

  constructor(channel: Pick<Channel, "openTake" | "transactionCapacity">) {
    this.#channel = channel;
  }

  async take(max: number, signal: AbortSignal): Promise<readonly Event[]> {
    const events = [...(await this.#takePart(max, signal))];
    while (events.length > 0 && events.length < max) {
      const more = await this.#takePart(max - events.length, noWaiting);
      if (more.length === 0) break;
      for (const event of more) events.push(event);
    }
    return events;
  }

  isRedelivered(event: Event): boolean {
    return this.#parts.some((part) => part.isRedelivered?.(event) === true);
  }

  async commit(): Promise<void> {
    for (const part of this.#parts) await part.commit();
  }

  /** The last one first, so that the channel has its order back. */
  async rollback(): Promise<void> {
    for (const part of [...this.#parts].reverse()) await part.rollback();
  }

  async #takePart(max: number, signal: AbortSignal): Promise<readonly Event[]> {
    const { transactionCapacity } = this.#channel;
    if (this.#parts.length === 0 || this.#held === transactionCapacity) {
      this.#parts.push(this.#channel.openTake());
      this.#held = 0;
    }
    const events = (await this.#parts.at(-1)?.take(Math.min(max, transactionCapacity - this.#held), signal)) ?? [];
    this.#held += events.length;
    return events;
  }
}

/** Milliseconds over which the pace is averaged. */
const WINDOW_MILLIS = 50;
/** Events for each millisecond; while fewer come, each batch is taken at once. */
const BUSY_PACE = 0.5;
/** An event costs hardly less in a batch of more events. */
const ENOUGH_EVENTS = 250;
const LONGEST_MILLIS = 20;
/** After each it is looked whether there are enough events already. */
const STEP_MILLIS = 2;

/** A channel should hold as many batches: one is being written, the next one comes in, and there is room for what comes meanwhile. */
const BATCHES_OF_CHANNEL = 3;

/** The most events, and bytes, that one service may hold in a channel; undefined where nobody says. */
export interface ChannelRoom {
  readonly events?: number | undefined;
  readonly bytes?: number | undefined;
}

/** The most for which a batch from a channel waits; of a channel that does not say what it holds, the events of one take. */
export function worthWaitingFor(transactionCapacity: number, { events, bytes }: ChannelRoom) {
  return {
    events: events === undefined ? transactionCapacity : Math.max(1, Math.floor(events / BATCHES_OF_CHANNEL)),
    bytes: bytes === undefined ? Number.POSITIVE_INFINITY : bytes / BATCHES_OF_CHANNEL,
  };
}

/** How fast events come, by the batches that were taken: a moment more makes the next batch larger, and its events cheaper. */
export class Pace {
  /** Events for which the next batch waits. */
  readonly enough: number;
  #pace = 0;
  #at = 0;

  /** `most`: events for which a batch may wait. */
  constructor(most: number) {
    this.enough = Math.min(ENOUGH_EVENTS, most);
  }

  /** A batch of this number of events was taken; `now` in milliseconds of a steady clock. */
  taken(events: number, now: number): void {
    this.#pace = this.#left(now) + events / WINDOW_MILLIS;
    this.#at = now;
  }

  /** Waits while many events come, until there are enough of them; `clock` is the one of {@link Pace.taken}. */
  async linger(hasEnough: () => boolean, signal: AbortSignal, clock: () => number): Promise<void> {
    const begun = clock();
    const end = begun + this.millis(begun);
    for (let left = end - begun; left > 0 && !hasEnough(); left = end - clock())
      if (!(await wait(Math.min(left, STEP_MILLIS), signal))) return;
  }

  /** The milliseconds in which enough events for the next batch come; 0 while few come. */
  millis(now: number): number {
    const pace = this.#left(now);
    return pace < BUSY_PACE ? 0 : Math.min(LONGEST_MILLIS, this.enough / pace);
  }

  #left(now: number): number {
    return this.#pace * Math.exp((this.#at - now) / WINDOW_MILLIS);
  }
}
