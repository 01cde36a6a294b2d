import type { Event } from "../sdk/index.js";
import type { Clock, TransactionObserver, WriteAttempt } from "../tokens.js";

/** Records when each sink last stored events or moved them to the dead letters. */
export class SinkProgress implements TransactionObserver {
  readonly #clock: Clock;
  readonly #stored = new Map<string, Date>();
  readonly #settled = new Map<string, Date>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** When the sink last stored events; undefined before the first time. */
  lastStored(sink: string): Date | undefined {
    return this.#stored.get(sink);
  }

  /** When the sink last stored events or moved some to the dead letters. */
  lastSettled(sink: string): Date | undefined {
    return this.#settled.get(sink);
  }

  received(): void {}

  attempted({ sink, finishedAt, receipt }: WriteAttempt): void {
    if (receipt === undefined) return;
    this.#stored.set(sink, finishedAt);
    this.#settled.set(sink, finishedAt);
  }

  givenUp(sink: string, _events: readonly Event[]): void {
    this.#settled.set(sink, this.#clock.now());
  }
}

/** An observer that forwards every call to several observers. */
export function observers(all: readonly TransactionObserver[]): TransactionObserver {
  return {
    received: (source, transaction) => {
      for (const one of all) one.received(source, transaction);
    },
    unrouted: (source, events) => {
      for (const one of all) one.unrouted?.(source, events);
    },
    refused: (source, refusal) => {
      for (const one of all) one.refused?.(source, refusal);
    },
    attempted: (attempt) => {
      for (const one of all) one.attempted(attempt);
    },
    givenUp: (sink, events) => {
      for (const one of all) one.givenUp(sink, events);
    },
  };
}
