import { onAbort } from "../sdk/index.js";
import type { TakenPart } from "./log-take.js";
import type { OwnPart } from "./own-parts.js";

interface WaitingTurn {
  readonly max: number;
  /** The part of which events are wanted; undefined: of any. */
  readonly held: OwnPart | undefined;
  settle(taken: TakenPart | undefined): void;
}

/** Hands out what waits in the parts of this agent: the parts in turn, takes first come first served. */
export class WaitingTurns {
  readonly #own: ReadonlyMap<number, OwnPart>;
  // No set: its tables would hold what was taken (docs/decisions/0086).
  #waiting: readonly WaitingTurn[] = [];
  #turn = 0;

  constructor(own: ReadonlyMap<number, OwnPart>) {
    this.#own = own;
  }

  /**
   * Resolves to events of one part; to undefined when the signal aborts before there are any, and, for a take that holds events
   * already, when its part has no more and another one has.
   */
  take(max: number, held: OwnPart | undefined, signal: AbortSignal): Promise<TakenPart | undefined> {
    const now = this.#waiting.length === 0 ? this.#now(max, held) : undefined;
    if (now !== undefined || signal.aborted) return Promise.resolve(now);
    if (held !== undefined && this.#others(held)) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      let stopListening: (() => void) | undefined;
      const turn: WaitingTurn = {
        max,
        held,
        settle: (taken) => {
          stopListening?.();
          this.#waiting = this.#waiting.filter((one) => one !== turn);
          resolve(taken);
        },
      };
      this.#waiting = [...this.#waiting, turn];
      stopListening = onAbort(signal, () => turn.settle(undefined));
    });
  }

  /** Something was added or put back. */
  wake(): void {
    for (const turn of this.#waiting) {
      const taken = this.#now(turn.max, turn.held);
      if (taken !== undefined) turn.settle(taken);
      else if (turn.held !== undefined && this.#others(turn.held)) turn.settle(undefined);
    }
  }

  endAll(): void {
    for (const turn of this.#waiting) turn.settle(undefined);
  }

  #others(held: OwnPart): boolean {
    for (const own of this.#own.values()) if (own !== held && isReady(own)) return true;
    return false;
  }

  #now(max: number, held: OwnPart | undefined): TakenPart | undefined {
    const own = held ?? this.#nextPart();
    if (own === undefined || !isReady(own)) return undefined;
    if (held === undefined) own.holders += 1;
    return { own, events: own.queue.take(max) };
  }

  /** The next part in turn with events that wait, one that no take holds if there is one. */
  #nextPart(): OwnPart | undefined {
    const ready = [...this.#own.values()].filter(isReady);
    const free = ready.filter(({ holders }) => holders === 0);
    const choice = free.length > 0 ? free : ready;
    this.#turn += 1;
    return choice[this.#turn % Math.max(1, choice.length)];
  }
}

function isReady({ queue, leaving }: OwnPart): boolean {
  return !leaving && queue.waiting > 0;
}
