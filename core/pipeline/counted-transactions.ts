import { eventHeaders } from "../ngsi/index.js";
import { atOnce } from "../sdk/at-once.js";
import { thrownCause } from "../sdk/causes.js";
import { describedFault, isEvent, listFault } from "../sdk/event-fault.js";
import { frozenEvent } from "../sdk/frozen.js";
import {
  AgentError,
  codeOf,
  type Event,
  letterHeader,
  type PutTransaction,
  retryableOf,
  type SettledEvents,
  type TakePositions,
  type TakeTransaction,
  type Waiting,
} from "../sdk/index.js";
import type { ChannelAccount } from "./channel-account.js";
import type { ChannelCounters } from "./counters.js";
import type { FailureState } from "./failure-state.js";
import type { UnsetClock } from "./unset-clock.js";

/** What a put changes beside its channel. */
export interface PutWatch {
  /** Names the channel in errors. */
  readonly title: string;
  readonly counters: ChannelCounters;
  readonly account: ChannelAccount | undefined;
  readonly puts: FailureState;
  /** Of puts that an event can go without. */
  readonly optionalPuts: FailureState;
  readonly beforeCommit: () => void;
  readonly committed: (events: number) => void;
  /** Whether the plugin of the channel is one of others, for which events are frozen. */
  readonly isOfOthers: boolean;
}

/** A put that is counted when it ends. */
export class CountedPut implements PutTransaction {
  readonly #transaction: PutTransaction;
  readonly #watch: PutWatch;
  readonly #isOptional: boolean;
  #events = 0;

  /** `isOptional`: its events can go without the channel. */
  constructor(transaction: PutTransaction, watch: PutWatch, isOptional: boolean) {
    this.#transaction = transaction;
    this.#watch = watch;
    this.#isOptional = isOptional;
  }

  put(event: Event): void {
    this.#events += 1;
    try {
      this.#transaction.put(this.#watch.isOfOthers ? frozenEvent(event) : event);
    } catch (error) {
      throw putFailed(this.#watch.title, error);
    }
  }

  /** A refusal counts once: at once only when waiting is of no use. */
  async reserve(waiting: Waiting): Promise<boolean> {
    try {
      return (await this.#transaction.reserve?.(waiting)) ?? false;
    } catch (error) {
      if (waiting === "wait" || codeOf(error) !== "CHANNEL_FULL") {
        this.#watch.counters.putsFailed += this.#end();
        this.#refused(error);
      }
      throw putFailed(this.#watch.title, error);
    }
  }

  /** Counts what goes without this optional channel because it had no room at once; `reserve` counts it only after waiting. */
  leftOut(error: unknown): void {
    this.#watch.counters.putsFailed += this.#end();
    this.#refused(error);
  }

  commit(): Promise<void> {
    const events = this.#end();
    try {
      this.#watch.beforeCommit();
      const committing = this.#transaction.commit();
      if (committing !== atOnce) return this.#committing(committing, events);
    } catch (error) {
      return this.#failed(error, events);
    }
    this.#committed(events);
    return atOnce;
  }

  // No async function: one would take twice the memory, for each notification while it waits for a disk.
  #committing(committing: Promise<void>, events: number): Promise<void> {
    return committing.then(
      () => this.#committed(events),
      (error) => this.#failed(error, events),
    );
  }

  #committed(events: number): void {
    const { counters, account, puts, optionalPuts, committed } = this.#watch;
    if (events > 0) {
      puts.works();
      optionalPuts.works();
    }
    committed(events);
    counters.putsOk += events;
    account?.accepted(events);
  }

  #failed(error: unknown, events: number): Promise<never> {
    this.#watch.counters.putsFailed += events;
    this.#refused(error);
    return Promise.reject(putFailed(this.#watch.title, error));
  }

  /** Not a failure of this channel: the notification was refused elsewhere. */
  async rollback(): Promise<void> {
    this.#end();
    await this.#transaction.rollback();
  }

  /** What is too large for the channel, or more than the share of its service, says nothing about it. */
  #refused(error: unknown): void {
    if (retryableOf(error) === false || codeOf(error) === "CHANNEL_SHARE_FULL") return;
    const { puts, optionalPuts } = this.#watch;
    (this.#isOptional ? optionalPuts : puts).failed(error);
  }

  #end(): number {
    const events = this.#events;
    this.#events = 0;
    return events;
  }
}

/** What a take changes beside its channel. */
export interface TakeWatch {
  readonly counters: ChannelCounters;
  /** When the first event of each open take was received, in no order: a list, because a Map would keep takes (decision 0086). */
  readonly received: number[];
  readonly clock: Pick<UnsetClock, "of">;
  readonly noteLost: () => void;
}

/** A take that is counted when it ends. */
export class CountedTake implements TakeTransaction {
  readonly #transaction: TakeTransaction;
  readonly #watch: TakeWatch;
  #events = 0;
  #receivedAt: number | undefined;

  constructor(transaction: TakeTransaction, watch: TakeWatch) {
    this.#transaction = transaction;
    this.#watch = watch;
  }

  get positions(): TakePositions | undefined {
    return this.#transaction.positions;
  }

  isRedelivered(event: Event): boolean {
    return this.#transaction.isRedelivered?.(event) === true;
  }

  settled(events: SettledEvents): void {
    this.#transaction.settled?.(events);
  }

  /** Absent where the channel has it not. */
  get leave(): TakeTransaction["leave"] {
    const leave = this.#transaction.leave?.bind(this.#transaction);
    if (leave === undefined) return undefined;
    return async (events, outcome) => {
      await leave(events, outcome);
      this.#events -= events.length;
      this.#watch.counters.takesOk += events.length;
    };
  }

  async take(max: number, signal: AbortSignal): Promise<readonly Event[]> {
    const events = await this.#transaction.take(max, signal);
    // What is no event in the list becomes a dead letter.
    if (!Array.isArray(events)) throw noList(events);
    if (this.#events === 0) this.#noteReception(events);
    this.#events += events.length;
    this.#watch.noteLost();
    return events;
  }

  async commit(): Promise<void> {
    await this.#transaction.commit();
    this.#watch.counters.takesOk += this.#end();
  }

  async rollback(): Promise<void> {
    this.#watch.counters.takesFailed += this.#end();
    await this.#transaction.rollback();
  }

  /** A replayed event was received long before it was put into the channel. */
  #noteReception([first]: readonly Event[]): void {
    if (!isEvent(first)) return;
    const time = first.headers[letterHeader] === undefined ? Number(first.headers[eventHeaders.timestamp]) : 0;
    if (!(time > 0)) return;
    this.#receivedAt = this.#watch.clock.of(time);
    this.#watch.received.push(this.#receivedAt);
  }

  #end(): number {
    const { received } = this.#watch;
    if (this.#receivedAt !== undefined) received.splice(received.indexOf(this.#receivedAt), 1);
    this.#receivedAt = undefined;
    const events = this.#events;
    this.#events = 0;
    return events;
  }
}

function noList(taken: unknown): AgentError {
  const fault = listFault(taken);
  const message = `the take of the channel returned ${describedFault(fault)}; its plugin must be corrected`;
  return new AgentError("EVENT_MALFORMED", message, { retryable: false });
}

/** An error that names no channel, because it is none of ours or no error at all, with the channel. */
export function putFailed(title: string, error: unknown): unknown {
  if (codeOf(error) !== undefined) return error;
  const options = { cause: thrownCause(error), retryable: retryableOf(error) ?? false };
  return new AgentError("CHANNEL_FAILED", `putting events into ${title}`, options);
}

/** What `call` of a channel returned, when that can be a transaction. */
export function openedBy<T extends object>(call: string, title: string, opened: T): T {
  if (isObject(opened)) return opened;
  const message = `${call} of ${title} returned ${String(opened)} in place of a transaction; its plugin must be corrected`;
  throw new AgentError("TRANSACTION_MALFORMED", message, { retryable: false });
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}
