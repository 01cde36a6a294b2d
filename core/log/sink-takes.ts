import type { SettledEvents } from "../sdk/index.js";
import type { TakenPart } from "./log-take.js";
import type { OwnPart } from "./own-parts.js";
import { StalledSinks } from "./stalled-sinks.js";
import { WaitingTurns } from "./waiting-turns.js";

interface SinkTakesParts {
  /** The parts that this agent reads. */
  readonly own: ReadonlyMap<number, OwnPart>;
  /** Milliseconds of a clock that does not jump. */
  readonly steady: () => number;
  readonly stallMillis: number;
  /** A take holds nothing of the part any more. */
  ended(own: OwnPart): void;
}

/** What sinks take of the parts of this agent, and whether they get on with it. */
export class SinkTakes {
  readonly #parts: SinkTakesParts;
  readonly #turns: WaitingTurns;
  readonly #stalled: StalledSinks;

  constructor(parts: SinkTakesParts) {
    this.#parts = parts;
    this.#turns = new WaitingTurns(parts.own);
    this.#stalled = new StalledSinks(parts.stallMillis);
  }

  /** What {@link WaitingTurns.take} does. */
  async take(max: number, held: OwnPart | undefined, signal: AbortSignal): Promise<TakenPart | undefined> {
    this.#stalled.asks();
    const taken = await this.#turns.take(max, held, signal);
    if (taken !== undefined) this.#stalled.took(taken.own, this.#parts.steady());
    return taken;
  }

  release({ own, events }: TakenPart, settled: SettledEvents | undefined): void {
    own.queue.release(events, settled);
    this.#stalled.getsOn(own);
    this.#ended(own);
  }

  /** A take has done some of what it holds of the part. */
  getsOn(own: OwnPart): void {
    this.#stalled.getsOn(own);
  }

  /** `ends`: the take holds nothing of the part any more. */
  restore({ own, events }: TakenPart, ends: boolean): void {
    own.queue.restore(events);
    if (own.leaving) own.queue.discardWaiting();
    if (own.leaving || own.queue.size === 0) this.#stalled.getsOn(own);
    if (ends) this.#ended(own);
    else this.wake();
  }

  /** Something was added to a part, or the parts have changed. */
  wake(): void {
    this.#turns.wake();
  }

  /** What {@link StalledSinks.look} says. */
  areStalled(): boolean {
    return this.#stalled.look(this.#parts.own, this.#parts.steady());
  }

  endAll(): void {
    this.#turns.endAll();
  }

  #ended(own: OwnPart): void {
    this.#parts.ended(own);
    this.wake();
  }
}
