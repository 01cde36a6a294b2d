import { isDeepStrictEqual } from "node:util";
import type { Settled } from "./delivery/settlements.js";
import { type AccountState, type Compared, type StoreBase, waitingIn } from "./ledger-file.js";

/** The books of one channel and the sinks that read from it, in events. */
export class ChannelAccount {
  readonly name: string;
  readonly #changed: () => void;
  readonly #sinks = new Map<string, SinkAccount>();
  #received = 0;
  #uncounted = 0;
  #lost = 0;
  #skipped = 0;
  /** Events that stay where a channel of this name kept them, while one that keeps them elsewhere has its name. */
  #left = 0;
  #opened = false;
  #whenMissing: ((events: number) => void) | undefined;
  #missing = 0;
  /** Undefined in books of earlier versions. */
  #base: StoreBase | undefined;
  #log: string | undefined;
  #reached: { readonly log: string; readonly parts: Map<number, number> } | undefined;

  constructor(name: string, changed: () => void, base?: StoreBase) {
    this.#base = base;
    this.name = name;
    this.#changed = changed;
  }

  get state(): AccountState {
    const sinks = [...this.#sinks].map(([name, { totals }]) => [name, { ...totals }] as const);
    const counts = { received: this.#received, uncounted: this.#uncounted, lost: this.#lost, skipped: this.#skipped };
    const left = this.#left === 0 ? {} : { left: this.#left };
    const base = this.#base === undefined ? {} : { base: this.#base };
    const log = this.#log === undefined ? {} : { log: this.#log };
    return { ...counts, ...left, sinks: new Map(sinks), ...base, ...log, ...this.#reachedState };
  }

  /** What the stores must have been given: what was stored, and what stored positions said was. */
  get storedOrSkipped(): number {
    return [...this.#sinks.values()].reduce((sum, { totals }) => sum + totals.stored, this.#skipped);
  }

  get base(): StoreBase | undefined {
    return this.#base;
  }

  set base(base: StoreBase | undefined) {
    this.#base = base;
    this.#changed();
  }

  /** What stores count the events of the channel from now on, before they get any; undefined: none does. */
  comparesWith(compared: Compared | undefined): void {
    const base = this.#base;
    if (base === undefined || compared === undefined) {
      if (base !== undefined) this.base = undefined;
      return;
    }
    const { of = compared, left, ...rest } = base;
    const isSame = isDeepStrictEqual(of, compared);
    const hasStored = left !== undefined && left !== this.storedOrSkipped;
    if (isSame && !hasStored) this.base = { ...rest, of };
    else this.base = { ...rest, of, left: left ?? this.storedOrSkipped };
  }

  /** The log that keeps the events of the channel is open; the one that kept them before, undefined where none did or it is the same. */
  keptIn(log: string): string | undefined {
    const before = this.#log;
    if (before === log) return undefined;
    this.#log = log;
    this.#changed();
    return before;
  }

  /** By partition of this log, the newest offset that the channel has seen; whoever asks sets it. Of another log nothing is kept. */
  reachedIn(log: string): Map<number, number> {
    if (this.#reached?.log !== log) this.#reached = { log, parts: new Map() };
    return this.#reached.parts;
  }

  get #reachedState(): Pick<AccountState, "reached"> {
    const { log, parts } = this.#reached ?? { log: "", parts: new Map<number, number>() };
    return parts.size === 0 ? {} : { reached: { log, parts: Object.fromEntries(parts) } };
  }

  /** True once its channel has started. */
  get opened(): boolean {
    return this.#opened;
  }

  restore({ received, uncounted, lost, sinks, skipped, base, log, reached }: AccountState): void {
    this.#log = log;
    const parts = Object.entries(reached?.parts ?? {}).map(([part, offset]) => [Number(part), offset] as const);
    this.#reached = reached === undefined ? undefined : { log: reached.log, parts: new Map(parts) };
    this.#skipped = skipped;
    this.#base = base;
    this.#received = received;
    this.#uncounted = uncounted;
    this.#lost = lost;
    for (const [name, settled] of sinks) this.sink(name).settled(settled);
  }

  /** Events that the channel had at its last stop, and not when it started in this process; 0 where that cannot be known. */
  get missing(): number {
    return this.#missing;
  }

  /** The listener is called when the channel starts with fewer events than these books say. */
  whenMissing(listener: (events: number) => void): void {
    this.#whenMissing = listener;
  }

  /**
   * Compares the books with what a channel holds when it starts. The books of a process that was killed are a moment
   * old: what is there and not in them was received; what is in them and not there was settled and is called uncounted.
   * Undefined for a channel whose size says nothing about this agent alone: its books go on as they are.
   */
  open(waiting: number | undefined): void {
    const surplus = waiting === undefined ? 0 : waiting - waitingIn(this.state);
    if (surplus > 0) this.#received += surplus;
    else this.#uncounted -= surplus;
    if (surplus < 0 && this.#whenMissing !== undefined) {
      this.#missing = -surplus;
      this.#whenMissing(this.#missing);
    }
    this.#whenMissing = undefined;
    this.#left = 0;
    this.#opened = true;
    this.#changed();
  }

  /** Events that are not in the channel which has the name now; `open` finds them when the one that has them is back. */
  leftBehind(events: number, waiting: number | undefined): void {
    this.open(waiting);
    this.#left = events;
  }

  /** Events that were accepted and can no longer be read; fewer than none are back, as far as these books know them. */
  lost(events: number): void {
    const more = Math.max(events, -this.#lost);
    if (more === 0) return;
    this.#lost += more;
    this.#changed();
  }

  /** Events that turned out to be stored before the channel started. */
  skipped(events: number): void {
    this.#skipped += events;
    this.leftOut(events);
  }

  /** Events that turned out to be settled before the channel started, and need not be in a store: there are dead letters of them. */
  leftOut(events: number): void {
    this.#uncounted += events;
    this.#changed();
  }

  accepted(events: number): void {
    this.#received += events;
    this.#changed();
  }

  sink(name: string): SinkAccount {
    const known = this.#sinks.get(name);
    if (known !== undefined) return known;
    const account = new SinkAccount(this.#changed);
    this.#sinks.set(name, account);
    return account;
  }
}

class SinkAccount {
  readonly totals = { stored: 0, "dead-lettered": 0, filtered: 0 };
  readonly #changed: () => void;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  settled(events: Settled): void {
    this.totals.stored += events.stored;
    this.totals["dead-lettered"] += events["dead-lettered"];
    this.totals.filtered += events.filtered;
    this.#changed();
  }
}
