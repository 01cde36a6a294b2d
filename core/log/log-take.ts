import { transactionEnded, transactionTooLarge } from "../sdk/channel/index.js";
import type { Event, SettledEvents, TakePositions, TakeTransaction } from "../sdk/index.js";
import { AgentError } from "../sdk/index.js";
import { channelName, isUpTo, type PositionOwner, positionOf, positionText } from "./log-position.js";
import type { OwnPart } from "./own-parts.js";
import type { OutcomeOf } from "./part-queue.js";
import type { QueuedPartEvent } from "./read-edge.js";

/** What a take has got: events of one part. */
export interface TakenPart {
  readonly own: OwnPart;
  readonly events: readonly QueuedPartEvent[];
}

interface LogTakeParts {
  readonly channel: string;
  readonly most: number;
  /** Waits for events of a part that it holds already, or of any. */
  take(max: number, held: OwnPart | undefined, signal: AbortSignal): Promise<TakenPart | undefined>;
  release(taken: TakenPart, settled: SettledEvents | undefined): void;
  /** Some of what a take holds of the part is done. */
  left(own: OwnPart): void;
  /** `ends`: the take holds nothing of the part any more. */
  restore(taken: TakenPart, ends: boolean): void;
  owner(): PositionOwner;
  /** False once other agents may have the parts of this one, as after it was frozen. */
  isHeard(): boolean;
}

/** A take transaction: events of one part of the log, so that one position says what of it is done. */
export class LogTake implements TakeTransaction {
  readonly #parts: LogTakeParts;
  #own: OwnPart | undefined;
  #events: readonly QueuedPartEvent[] = [];
  readonly #byEvent = new Map<Event, QueuedPartEvent>();
  /** The name of its part: each of its events is asked for its id. */
  #channel: string | undefined;
  #settled: SettledEvents | undefined;
  #isOpen = true;

  constructor(parts: LogTakeParts) {
    this.#parts = parts;
  }

  async take(max: number, signal: AbortSignal): Promise<readonly Event[]> {
    this.#checkOpen();
    const left = this.#parts.most - this.#events.length;
    if (left <= 0) throw transactionTooLarge(this.#parts);
    const taken = await this.#parts.take(Math.min(max, left), this.#own, signal);
    if (taken === undefined) return [];
    if (!this.#isOpen) {
      // What it held of that part before was released or restored with its end.
      this.#parts.restore(taken, this.#own === undefined);
      return [];
    }
    this.#own = taken.own;
    this.#events = this.#events.length === 0 ? taken.events : [...this.#events, ...taken.events];
    for (const queued of taken.events) this.#byEvent.set(queued.event, queued);
    return taken.events.map(({ event }) => event);
  }

  isRedelivered(event: Event): boolean {
    return this.#byEvent.get(event)?.redelivered === true;
  }

  get positions(): TakePositions {
    return {
      shared: true,
      leaving: this.#own?.leaving === true || !this.#parts.isHeard(),
      after: (count, outcomeOf) => this.#after(count, outcomeOf),
      coveredBy: (text) => this.#coveredBy(text),
      idOf: (event) => {
        const queued = this.#byEvent.get(event);
        if (queued === undefined) return undefined;
        this.#channel ??= channelName(this.#parts.owner(), queued.part);
        return `${this.#channel}:${queued.offset}+${queued.index}`;
      },
    };
  }

  settled(events: SettledEvents): void {
    this.#settled = events;
  }

  leave(events: readonly Event[], outcome: keyof SettledEvents): void {
    if (!this.#isOpen || this.#own === undefined) return;
    const left = new Set(events);
    this.#own.queue.leave(
      this.#events.filter(({ event }) => left.has(event)),
      outcome,
    );
    this.#events = this.#events.filter(({ event }) => !left.has(event));
    for (const event of events) this.#byEvent.delete(event);
    this.#parts.left(this.#own);
  }

  async commit(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    if (this.#own !== undefined) this.#parts.release({ own: this.#own, events: this.#events }, this.#settled);
  }

  async rollback(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    if (this.#own !== undefined) this.#parts.restore({ own: this.#own, events: this.#events }, true);
  }

  #after(count: number, outcomeOf?: OutcomeOf): string {
    const first = this.#events[0];
    if (this.#own === undefined || first === undefined) throw this.#empty();
    return positionText(
      this.#parts.owner(),
      first.part,
      this.#own.queue.after(this.#events.slice(0, count), outcomeOf),
    );
  }

  #coveredBy(text: string): readonly Event[] {
    const stored = positionOf(this.#parts.owner(), text);
    if (stored === undefined) return [];
    if (stored.part === this.#own?.queue.part) this.#own.queue.noteStored(stored.position);
    return this.#events
      .filter((queued) => queued.part === stored.part && isUpTo(queued, stored.position))
      .map(({ event }) => event);
  }

  #checkOpen(): void {
    if (!this.#isOpen) throw transactionEnded(this.#parts);
  }

  #empty(): AgentError {
    const message = `asking channel "${this.#parts.channel}" for a position before anything was taken`;
    return new AgentError("TRANSACTION_EMPTY", message, { retryable: false });
  }
}
