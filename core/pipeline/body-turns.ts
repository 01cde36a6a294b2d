import { getHeapStatistics } from "node:v8";

/** Of the heap limit: a body of many small entities takes thirty times its bytes until the channels have its events, and these take more while they write them. */
const SHARE_OF_HEAP = 1 / 128;
/** Bytes of a body from which on it is large. */
export const LARGE = 65_536;

/** The bytes of the bodies that are decoded and whose events are not in the channels yet, of sources that share a part of the heap. */
export class DecodedBytes {
  readonly most: number;
  /** Of the sources with bodies that wait. */
  readonly waiting = new Set<BodyTurns>();
  now = 0;

  constructor(most: number) {
    this.most = most;
  }
}

/**
 * Lets a source decode while there is room. A body that has none waits as it came, outside of the heap; none overtakes one of its source
 * that waits. One alone of its source has room whatever its size, and whatever other sources wait for.
 */
export class BodyTurns {
  readonly #all: DecodedBytes;
  readonly #areLarge: boolean;
  readonly #waiting: { readonly bytes: number; readonly begin: () => void }[] = [];
  #own = 0;
  #isTurnOver = false;

  /** `areLarge`: after each one the event loop goes on, and channels take what was decoded. */
  constructor(all: DecodedBytes, areLarge: boolean) {
    this.#all = all;
    this.#areLarge = areLarge;
  }

  /** Whether a body may be decoded now. */
  hasRoom(bytes: number): boolean {
    return this.#waiting.length === 0 && this.#fits(bytes);
  }

  /** Calls `begin` when it is the turn of a body that has no room. */
  wait(bytes: number, begin: () => void): void {
    this.#waiting.push({ bytes, begin });
    this.#all.waiting.add(this);
  }

  /** A body was decoded, and its events wait. */
  took(bytes: number): void {
    this.#count(bytes);
    if (this.#areLarge) this.#endTurn();
  }

  /** The channels have its events, or refuse them. */
  gave(bytes: number): void {
    this.#count(-bytes);
    for (const turns of this.#all.waiting) turns.#goOn();
  }

  #count(bytes: number): void {
    this.#own += bytes;
    this.#all.now += bytes;
  }

  #goOn(): void {
    for (let [next] = this.#waiting; next !== undefined && this.#fits(next.bytes); [next] = this.#waiting) {
      this.#waiting.shift();
      if (this.#areLarge) this.#endTurn();
      next.begin();
    }
    if (this.#waiting.length === 0) this.#all.waiting.delete(this);
  }

  #endTurn(): void {
    if (this.#isTurnOver) return;
    this.#isTurnOver = true;
    setImmediate(() => {
      this.#isTurnOver = false;
      this.#goOn();
    });
  }

  #fits(bytes: number): boolean {
    return !this.#isTurnOver && (this.#own === 0 || this.#all.now + bytes <= this.#all.most);
  }
}

/** What sources of one process share. A large body that waits for a channel holds up no small one. */
export interface SharedRoom {
  readonly small: DecodedBytes;
  readonly large: DecodedBytes;
}

const bytesAtOnce = getHeapStatistics().heap_size_limit * SHARE_OF_HEAP;
export const roomOfProcess: SharedRoom = { small: new DecodedBytes(bytesAtOnce), large: new DecodedBytes(bytesAtOnce) };
