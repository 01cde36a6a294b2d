import { getHeapStatistics } from "node:v8";

/** Of the heap limit: a body of many small entities takes thirty times its bytes until the channels have its events, and these take more while they write them. */
const SHARE_OF_HEAP = 1 / 128;
/** Bytes of bodies after which the event loop goes on before the next one: channels take meanwhile what was decoded. */
const BYTES_OF_A_TURN = 65_536;

/**
 * The bodies that are decoded and whose events are not in the channels yet, by their bytes. One that has no room waits as it came, outside
 * of the heap; one alone has room whatever its size. None overtakes one that waits.
 */
export class ReceptionTurns {
  readonly #most: number;
  readonly #waiting: { readonly bytes: number; readonly begin: () => void }[] = [];
  #decoded = 0;
  /** What was decoded in this turn of the event loop, or a bit longer. */
  #inTurn = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Whether a body may be decoded now. */
  hasRoom(bytes: number): boolean {
    return this.#waiting.length === 0 && this.#fits(bytes);
  }

  /** Calls `begin` when it is the turn of a body that has no room. */
  wait(bytes: number, begin: () => void): void {
    this.#waiting.push({ bytes, begin });
  }

  /** A body was decoded, and its events wait. */
  took(bytes: number): void {
    this.#decoded += bytes;
    const isTurnFull = this.#inTurn >= BYTES_OF_A_TURN;
    this.#inTurn += bytes;
    if (isTurnFull || this.#inTurn < BYTES_OF_A_TURN) return;
    setImmediate(() => {
      this.#inTurn = 0;
      this.#goOn();
    });
  }

  /** The channels have its events, or refuse them. */
  gave(bytes: number): void {
    this.#decoded -= bytes;
    this.#goOn();
  }

  #goOn(): void {
    for (let [next] = this.#waiting; next !== undefined && this.#fits(next.bytes); [next] = this.#waiting) {
      this.#waiting.shift();
      next.begin();
    }
  }

  #fits(bytes: number): boolean {
    return this.#decoded === 0 || (this.#inTurn < BYTES_OF_A_TURN && this.#decoded + bytes <= this.#most);
  }
}

/** Those of all sources of this process. */
export const receptionTurns = new ReceptionTurns(getHeapStatistics().heap_size_limit * SHARE_OF_HEAP);
