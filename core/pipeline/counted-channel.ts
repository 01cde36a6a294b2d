import type {
  Channel,
  ChannelPart,
  LogSummary,
  PutTransaction,
  Putting,
  ServiceHolding,
  SharedLetters,
  TakeTransaction,
} from "../sdk/index.js";
import type { ChannelAccount } from "./channel-account.js";
import { CountedPut, CountedTake, openedBy, type PutWatch, putFailed } from "./counted-transactions.js";
import { ChannelCounters } from "./counters.js";
import { FailureState } from "./failure-state.js";
import { UnsetClock } from "./unset-clock.js";
import { type WaitingSince, WaitingTime } from "./waiting-time.js";

interface CountedChannelParts {
  readonly account?: ChannelAccount;
  now?(): Date;
  /** Names it in errors. */
  readonly title?: string;
  /** Whether its plugin is one of others; false when absent. */
  readonly isOfOthers?: boolean;
}

/** A channel that counts: every channel of an agent is wrapped in one, so that no plugin counts by itself. */
export class CountedChannel implements Channel {
  readonly counters = new ChannelCounters();
  /** Whether it accepts puts. */
  readonly puts: FailureState;
  /** Whether it accepts those that an event can go without. */
  readonly optionalPuts: FailureState;
  readonly #waitingTime = new WaitingTime();
  readonly #clock: UnsetClock;
  /** When the first event of each open take was received, by that clock. */
  readonly #received: number[] = [];
  readonly #channel: Channel;
  readonly #title: string;
  readonly #account: ChannelAccount | undefined;
  readonly #now: () => Date;
  readonly #watch: PutWatch;
  #filledAt: Date | undefined;
  /** Events that it takes over after its start; undefined when nobody knows how many. */
  #inherits: number | undefined = 0;
  /** What the channel has lost, as far as it is in the books. */
  #lost = 0;
  #isStopped = false;

  constructor(channel: Channel, parts: CountedChannelParts = {}) {
    const { account, now = () => new Date(), title = "the channel", isOfOthers = false } = parts;
    this.#title = title;
    this.#channel = channel;
    this.#account = account;
    this.#now = now;
    this.#clock = new UnsetClock(now);
    this.puts = new FailureState({ now });
    this.optionalPuts = new FailureState({ now });
    const { counters, puts, optionalPuts } = this;
    this.#watch = {
      title,
      counters,
      puts,
      optionalPuts,
      account,
      beforeCommit: this.#noteFilling,
      committed: this.#noteWaiting,
      isOfOthers,
    };
  }

  /** When it last changed from empty to not empty; undefined when it never did. */
  get filledAt(): Date | undefined {
    return this.#filledAt;
  }

  get redelivers(): boolean {
    return this.#channel.redelivers === true;
  }

  get holdsApart(): boolean {
    return this.#channel.holdsApart === true;
  }

  get durable(): boolean {
    return this.#channel.durable === true;
  }

  get size(): number | undefined {
    return numberOf(this.#channel.size);
  }

  /** Events that the end of the process would lose now. */
  get inMemory(): number {
    return (this.durable ? this.#channel.unsaved : this.size) ?? 0;
  }

  /** Whether the ledger can be compared with the size. */
  get isExact(): boolean {
    return this.size !== undefined && this.sizeIs === "exact";
  }

  get sizeIs(): "exact" | "shared" | "approximate" {
    return this.#channel.sizeIs ?? "exact";
  }

  /** False only when the channel says that it is empty. */
  get mayHold(): boolean {
    return this.#channel.size !== 0;
  }

  /** Undefined for a channel that does not count them. */
  get bytes(): number | undefined {
    return numberOf(this.#channel.bytes);
  }

  /** Undefined for a channel that does not count by service. */
  largestServices(most: number): readonly ServiceHolding[] | undefined {
    return this.#channel.largestServices?.(most);
  }

  /** Whether it has letters, now or when its log is open. */
  get sharesLetters(): boolean {
    return "letters" in this.#channel;
  }

  /** Undefined for a channel of one agent, and before its log is open. */
  get letters(): SharedLetters | undefined {
    return this.#channel.letters;
  }

  /** Whether other agents put and take, too, and its log has books of all of them. */
  get isShared(): boolean {
    return this.#channel.log !== undefined;
  }

  /** None for a channel of one agent. */
  parts(): readonly ChannelPart[] {
    return this.#channel.parts?.() ?? [];
  }

  /** Undefined for a channel of one agent. */
  log(): LogSummary | undefined {
    return this.#channel.log?.();
  }

  /**
   * Since when the oldest event waits, in the parts of all agents where they share it; else from its reception once a sink has taken it, before that from its put. Undefined, too,
   * where the size does not say which puts are still there.
   */
  get waitingSince(): WaitingSince | undefined {
    const parts = this.#channel.parts?.() ?? [];
    if (parts.length > 0) return oldestOf(parts);
    const waiting = this.isExact || this.size === 0 ? this.#waitingTime.oldest(this.size ?? 0) : undefined;
    this.#clock.now();
    if (waiting === undefined) return undefined;
    if (this.#received.length === 0) return { ...waiting, since: this.#clock.shown(waiting.since) };
    return { since: this.#clock.shown(Math.min(...this.#received)), exact: true };
  }

  get transactionCapacity(): number {
    return this.#channel.transactionCapacity;
  }

  async start(): Promise<void> {
    await this.#channel.start();
    this.#noteLost();
    this.#waitingTime.started(this.size ?? 0, this.#clock.now());
    const { size, isExact } = this;
    const own = isExact && size !== undefined && this.#inherits !== undefined ? size + this.#inherits : undefined;
    if (this.durable || this.#account?.opened === false) this.#account?.open(own);
  }

  /** To be called before the start of a channel that inherits: what it takes over is in the books already. */
  willInherit(from: CountedChannel): void {
    if (from.sizeIs === "shared") return;
    this.#inherits = from.isExact ? from.size : undefined;
  }

  /** To be called when this one is about to stop, and a channel that forgets has its name: what is in this one stays there. */
  leaveBehind(next: CountedChannel): void {
    const left = this.isExact ? this.size : undefined;
    this.#account?.leftBehind(left ?? 0, next.isExact ? next.size : undefined);
  }

  abandonPuts(): void {
    this.#channel.abandonPuts?.();
  }

  stop(signal: AbortSignal): Promise<void> {
    this.noteMissing();
    this.#isStopped = true;
    return this.#channel.stop(signal);
  }

  /** What was found missing in a log that agents share is in the books, also where nothing was taken since. */
  noteMissing(): void {
    if (this.isShared && !this.#isStopped) this.#noteLost();
  }

  /** Events that are lost and not in the books yet: at a stop those that it could not save. The next start finds them missing. */
  get newlyLost(): number {
    return Math.max(0, (numberOf(this.#channel.lost) ?? 0) - this.#lost);
  }

  /** Takes over what is left in a channel that this one replaces. What agents share stays in their log. */
  async inherit(from: CountedChannel): Promise<number> {
    if (from.sizeIs === "shared") return 0;
    const most = Math.min(this.transactionCapacity, from.transactionCapacity);
    let moved = 0;
    while (from.mayHold) {
      const taken = from.#channel.openTake();
      const events = await taken.take(most, AbortSignal.abort());
      if (events.length === 0) break;
      try {
        const put = this.#channel.openPut(undefined, "again");
        for (const event of events) put.put(event);
        await put.commit();
        this.#noteWaiting(events.length);
      } catch (error) {
        await taken.rollback();
        throw error;
      }
      await taken.commit();
      moved += events.length;
    }
    return moved;
  }

  async skipTo(position: string): Promise<number> {
    return (await this.#channel.skipTo?.(position)) ?? 0;
  }

  async leaveOut(ids: AsyncIterable<string>): Promise<number> {
    return (await this.#channel.leaveOut?.(ids)) ?? 0;
  }

  openPut(events?: number, putting?: Putting): PutTransaction {
    return this.#opened(() => this.#channel.openPut(events, putting), false);
  }

  /** For events that can go without this channel. */
  openOptionalPut(events: number): PutTransaction {
    return this.#opened(() => this.#channel.openPut(events), true);
  }

  #opened(open: () => PutTransaction, isOptional: boolean): PutTransaction {
    let transaction: PutTransaction;
    try {
      transaction = open();
    } catch (error) {
      throw putFailed(this.#title, error);
    }
    return new CountedPut(openedBy("openPut", this.#title, transaction), this.#watch, isOptional);
  }

  openTake(): TakeTransaction {
    return new CountedTake(openedBy("openTake", this.#title, this.#channel.openTake()), {
      counters: this.counters,
      received: this.#received,
      clock: this.#clock,
      noteLost: this.#noteLost,
    });
  }

  readonly #noteLost = (): void => {
    const lost = numberOf(this.#channel.lost) ?? 0;
    this.#account?.lost(lost - this.#lost);
    this.#lost = lost;
  };

  readonly #noteFilling = (): void => {
    if (this.#channel.size === 0) this.#filledAt = this.#now();
  };

  readonly #noteWaiting = (events: number): void => {
    this.#waitingTime.noted(events, this.#clock.now());
  };
}

/** A channel in JavaScript may tell anything: what is no number says nothing. */
function numberOf(told: number | undefined): number | undefined {
  return Number.isFinite(told) ? told : undefined;
}

/** Undefined, too, while a part with events does not say it. */
function oldestOf(parts: readonly ChannelPart[]): WaitingSince | undefined {
  const times = parts.map(({ oldest, waiting }) => oldest ?? (waiting === 0 ? Number.POSITIVE_INFINITY : Number.NaN));
  const since = Math.min(...times);
  return Number.isFinite(since) ? { since, exact: true } : undefined;
}
