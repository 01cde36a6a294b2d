import { type ServiceShares, Turns } from "deneb/sdk/channel";
import type { DoneRanges } from "./done-ranges.js";
import { NumberRing } from "./number-ring.js";

/** Events of one page of the index: 20 bytes each. */
const PAGE = 4096;

const WAITING = 1;
const TAKEN = 2;

/** What the index knows of an event. */
export interface Indexed {
  readonly sequence: number;
  readonly bytes: number;
  /** Where its record begins in its segment; 0 for an event in memory alone. */
  readonly offset: number;
}

/** The events of one service. */
class Lane {
  readonly service: string;
  /** Those that wait, and maybe some that are done by now. */
  readonly waiting = new NumberRing();
  /** How many are not done. */
  open = 0;
  isInTurns = false;

  constructor(service: string) {
    this.service = service;
  }
}

class Page {
  readonly states = new Uint8Array(PAGE);
  readonly bytes = new Uint32Array(PAGE);
  readonly offsets = new Float64Array(PAGE);
  readonly lanes = new Array<Lane | undefined>(PAGE);
  /** How many events of it are not done. */
  open = 0;
}

/**
 * The index of the events that are not done: of each its service, its size and its place, and which are handed out. It
 * chooses the next ones: the oldest, or those of the services in turn.
 */
export class Backlog {
  readonly #shares: ServiceShares;
  readonly #fair: boolean;
  readonly #mostBytes: number;
  /** By the number of the page, in ascending order, because sequence numbers only grow. */
  readonly #pages = new Map<number, Page>();
  /** Of the services with events that are not done. */
  readonly #lanes = new Map<string, Lane>();
  readonly #turns = new Turns<Lane>();
  #waiting = 0;
  /** One without events: while few events wait, pages come and go. */
  #spare: Page | undefined;

  /** `mostBytes`: bytes of events that are chosen at a time, about. */
  constructor(shares: ServiceShares, fair: boolean, mostBytes: number) {
    this.#shares = shares;
    this.#fair = fair;
    this.#mostBytes = mostBytes;
  }

  /** Events that are not handed out. */
  get waiting(): number {
    return this.#waiting;
  }

  /** An event that is later than all others; what it takes of the channel is in the shares already. */
  add(service: string, { sequence, bytes, offset }: Indexed): void {
    const page = this.#pageOf(sequence);
    const at = sequence % PAGE;
    const lane = this.#lanes.get(service) ?? new Lane(service);
    if (lane.open === 0) this.#lanes.set(service, lane);
    lane.open += 1;
    page.states[at] = WAITING;
    page.bytes[at] = bytes;
    page.offsets[at] = offset;
    page.lanes[at] = lane;
    page.open += 1;
    this.#waiting += 1;
    if (!this.#fair) return;
    lane.waiting.push(sequence);
    this.#join(lane);
  }

  placeOf(sequence: number): Indexed {
    const page = this.#pages.get(Math.floor(sequence / PAGE));
    const at = sequence % PAGE;
    return { sequence, bytes: page?.bytes[at] ?? 0, offset: page?.offsets[at] ?? 0 };
  }

  /** The oldest events that wait, ascending; they count as handed out. */
  oldest(max: number): number[] {
    const chosen: number[] = [];
    let bytes = 0;
    for (const [number, page] of this.#pages) {
      for (const at of waitingIn(page, max - chosen.length)) {
        if (bytes >= this.#mostBytes) return chosen;
        this.#handOutFirst(page, at);
        chosen.push(number * PAGE + at);
        bytes += page.bytes[at] ?? 0;
      }
      if (chosen.length >= max) break;
    }
    return chosen;
  }

  /** Events of the services in turn, those of one service ascending; they count as handed out. */
  inTurn(max: number): number[] {
    const chosen: number[] = [];
    let bytes = 0;
    while (chosen.length < max && bytes < this.#mostBytes) {
      const lane = this.#turns.next();
      if (lane === undefined) break;
      const sequence = this.#firstOf(lane);
      if (sequence !== undefined) {
        chosen.push(sequence);
        bytes += this.placeOf(sequence).bytes;
      }
      if (lane.waiting.length > 0) continue;
      lane.isInTurns = false;
      this.#turns.leave();
    }
    return chosen;
  }

  /** Ascending events that were handed out wait again, in their places. */
  restore(sequences: readonly number[]): void {
    const lanes = new Map<Lane, number[]>();
    for (const sequence of sequences) {
      const page = this.#pages.get(Math.floor(sequence / PAGE));
      const at = sequence % PAGE;
      const lane = page?.lanes[at];
      if (page === undefined || lane === undefined || page.states[at] !== TAKEN) continue;
      page.states[at] = WAITING;
      this.#waiting += 1;
      if (!this.#fair) continue;
      const own = lanes.get(lane);
      if (own === undefined) lanes.set(lane, [sequence]);
      else own.push(sequence);
    }
    for (const [lane, own] of lanes) {
      lane.waiting.restore(own);
      this.#join(lane);
    }
  }

  /** An event is done, or lost. A second call does nothing, so that the shares cannot drift. */
  finish(sequence: number): void {
    const number = Math.floor(sequence / PAGE);
    const page = this.#pages.get(number);
    const at = sequence % PAGE;
    const lane = page?.lanes[at];
    if (page === undefined || lane === undefined) return;
    if (page.states[at] === WAITING) this.#waiting -= 1;
    page.states[at] = 0;
    page.lanes[at] = undefined;
    page.open -= 1;
    if (page.open === 0) {
      this.#pages.delete(number);
      this.#spare = page;
    }
    this.#shares.remove(lane.service, { events: 1, bytes: page.bytes[at] ?? 0 });
    lane.open -= 1;
    if (lane.open === 0) this.#lanes.delete(lane.service);
  }

  /** Everything that is done counts as finished; returns which events that were. */
  finishDone(done: DoneRanges): readonly number[] {
    const finished: number[] = [];
    for (const [number, page] of [...this.#pages]) {
      const from = number * PAGE;
      const isOpen = new Uint8Array(PAGE);
      for (const range of done.openIn({ from, to: from + PAGE - 1 }))
        isOpen.fill(1, range.from - from, range.to - from + 1);
      for (const [at, state] of page.states.entries()) if (state !== 0 && isOpen[at] === 0) finished.push(from + at);
    }
    for (const sequence of finished) this.finish(sequence);
    return finished;
  }

  #pageOf(sequence: number): Page {
    const number = Math.floor(sequence / PAGE);
    const known = this.#pages.get(number);
    if (known !== undefined) return known;
    const page = this.#spare ?? new Page();
    this.#spare = undefined;
    this.#pages.set(number, page);
    return page;
  }

  #join(lane: Lane): void {
    if (lane.isInTurns) return;
    lane.isInTurns = true;
    this.#turns.join(lane);
  }

  /** The first event of the lane that waits, handed out. */
  #firstOf(lane: Lane): number | undefined {
    for (;;) {
      const sequence = lane.waiting.shift();
      if (sequence === undefined) return undefined;
      const page = this.#pages.get(Math.floor(sequence / PAGE));
      if (page?.states[sequence % PAGE] !== WAITING) continue;
      this.#handOut(page, sequence % PAGE);
      return sequence;
    }
  }

  /** The oldest event of all is the first one of its lane, too. */
  #handOutFirst(page: Page, at: number): void {
    const lane = page.lanes[at];
    if (!this.#fair || lane === undefined) this.#handOut(page, at);
    else while (page.states[at] === WAITING && this.#firstOf(lane) !== undefined);
  }

  #handOut(page: Page, at: number): void {
    page.states[at] = TAKEN;
    this.#waiting -= 1;
  }
}

/** Where the first events of a page that wait stand. */
function waitingIn({ states }: Page, most: number): readonly number[] {
  const found: number[] = [];
  for (let at = states.indexOf(WAITING); at !== -1 && found.length < most; at = states.indexOf(WAITING, at + 1))
    found.push(at);
  return found;
}
