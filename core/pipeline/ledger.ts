import { rename } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import { NEWER_FORMAT } from "../files/format-version.js";
import { FailureLog } from "../sdk/failure-log.js";
import { codeOf, type Logger, reasonOf } from "../sdk/index.js";
import type { Settled } from "./delivery/taken-batch.js";
import {
  type AccountState,
  type Compared,
  readAccounts,
  type StoreBase,
  unreadableLedger,
  waitingIn,
  writeAccounts,
} from "./ledger-file.js";

/** Milliseconds between two writes of a ledger that changes all the time. */
const savePause = 1000;

/**
 * The books of an agent: what every channel accepted and how it ended, kept in a file. The accounts of durable channels
 * go on where they stood when the agent starts again; the others start at zero, as their channels do.
 */
export class Ledger {
  readonly #file: string;
  readonly #log: Logger;
  readonly #failures: FailureLog;
  readonly #accounts = new Map<string, ChannelAccount>();
  /** New books begin with nothing in the stores. */
  #newBase: StoreBase = { events: 0, stored: 0, loose: false };
  #saved: ReadonlyMap<string, AccountState> = new Map();
  /** The channels whose books go on. */
  readonly #resumed = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  /** True when the process that wrote the books had stopped in order: what waited then is known. */
  #isExact = false;
  #changed = false;
  /** True when the file is of a later version: it is not written over. */
  #isRefused = false;
  /** True until a file that could not be read is out of the way. */
  #isUnreadable = false;
  #writing = Promise.resolve();

  constructor(file: string, log: Logger) {
    this.#file = file;
    this.#log = log;
    this.#failures = new FailureLog(log, "ledger is written again");
  }

  /** The books of a channel, the same ones whenever it is asked for. */
  account(channel: string): ChannelAccount {
    const known = this.#accounts.get(channel);
    if (known !== undefined) return known;
    const account = new ChannelAccount(channel, () => this.#soon(), this.#newBase);
    this.#accounts.set(channel, account);
    return account;
  }

  /**
   * Reads the accounts of the run before; a file that cannot be read is reported and kept under another name, and the ledger
   * starts at zero. One of a later version throws.
   */
  async start(): Promise<void> {
    try {
      const accounts = await readAccounts(this.#file);
      const { channels, closed } = accounts ?? { channels: new Map(), closed: true };
      this.#isExact = closed;
      this.#saved = closed ? channels : new Map([...channels].map(([name, state]) => [name, loosened(state)]));
      this.#newBase = { ...this.#newBase, loose: !closed };
      for (const account of this.#accounts.values()) account.base = this.#newBase;
    } catch (error) {
      this.#isRefused = codeOf(error) === NEWER_FORMAT;
      if (this.#isRefused) throw error;
      this.#isUnreadable = true;
      const fields = { file: this.#file, reason: reasonOf(error), kept: unreadableLedger(this.#file) };
      this.#log.error(fields, "ledger cannot be read and starts again");
    }
  }

  /** Goes on with the account of a durable channel, before the channel starts. */
  resume(channel: string): void {
    this.#resumed.add(channel);
    const saved = this.#saved.get(channel);
    if (saved === undefined || this.#accounts.get(channel)?.opened) return;
    const account = this.account(channel);
    account.restore(saved);
    if (this.#isExact) account.whenMissing((events) => this.#log.error({ channel, events, remedy: MIXED }, MISSING));
  }

  /** What waits by the books of channels that do not go on: the agent has them no longer, or not as durable ones. */
  left(): readonly { readonly channel: string; readonly events: number }[] {
    return [...this.#saved]
      .map(([channel, state]) => ({ channel, events: waitingIn(state) + (state.left ?? 0) }))
      .filter(({ channel, events }) => events > 0 && !this.#resumed.has(channel));
  }

  /** Writes that a process is at work, once it has the channels: what it stores from now on may be missing in the file. */
  async begin(): Promise<void> {
    this.#changed = true;
    await this.#save();
  }

  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#changed = true;
    await this.#save(true);
  }

  #soon(): void {
    this.#changed = true;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#save();
    }, savePause).unref();
  }

  async #save(closed = false): Promise<void> {
    const write = async () => {
      if (!this.#changed || this.#isRefused) return;
      this.#changed = false;
      try {
        // Where that fails, it is written over.
        if (this.#isUnreadable) await rename(this.#file, unreadableLedger(this.#file)).catch(() => undefined);
        this.#isUnreadable = false;
        await writeAccounts(this.#file, { channels: this.#states(), closed });
        this.#failures.works({ file: this.#file });
      } catch (error) {
        this.#failures.failed("error", error, { message: "ledger not written", fields: { file: this.#file } });
        if (!closed) this.#soon();
      }
    };
    this.#writing = this.#writing.then(write);
    await this.#writing;
  }

  /** Channels that did not start, or are not in the configuration now, keep the books they had. */
  #states(): ReadonlyMap<string, AccountState> {
    const opened = [...this.#accounts].filter(([, account]) => account.opened);
    return new Map([...this.#saved, ...opened.map(([name, account]) => [name, account.state] as const)]);
  }
}

const MISSING = "events are missing: the channel holds fewer than at its last stop";
const MIXED =
  "its folders, or ledger.json, were removed, replaced, or are of different backups, or dataDirs was changed; put back what is of one time";

/** Events may have been stored after the books were written. */
function loosened(state: AccountState): AccountState {
  const { base } = state;
  return base === undefined ? state : { ...state, base: { ...base, loose: true } };
}

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

  constructor(name: string, changed: () => void, base?: StoreBase) {
    this.#base = base;
    this.name = name;
    this.#changed = changed;
  }

  get state(): AccountState {
    const sinks = [...this.#sinks].map(([name, { totals }]) => [name, { ...totals }] as const);
    const counts = { received: this.#received, uncounted: this.#uncounted, lost: this.#lost, skipped: this.#skipped };
    const left = this.#left === 0 ? {} : { left: this.#left };
    return { ...counts, ...left, sinks: new Map(sinks), ...(this.#base === undefined ? {} : { base: this.#base }) };
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

  /** True once its channel has started. */
  get opened(): boolean {
    return this.#opened;
  }

  restore({ received, uncounted, lost, sinks, skipped, base }: AccountState): void {
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

  /** Events that turned out to be settled before the channel started. */
  skipped(events: number): void {
    this.#uncounted += events;
    this.#skipped += events;
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
