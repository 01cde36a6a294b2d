import type { Event } from "./event.js";
import type { Lifecycle } from "./lifecycle.js";
import type { Examined } from "./probe.js";
import type { ChannelPart, LogSummary, SettledEvents, SharedLetters } from "./shared-channel.js";

/** A transaction ends with exactly one call of `commit` or `rollback`; a second call does nothing. */
export interface Transaction {
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

/** Whether a put that finds no room waits for it, up to the time-out of the channel, or fails at once. @stable */
export type Waiting = "wait" | "at-once";

/**
 * Where the events of a put come from: `new` ones of a notification, or `again` those that the agent has accepted before, of
 * a channel that is replaced or of dead letters that are replayed. A channel that limits what one service may hold counts
 * the latter and does not refuse them for that. @beta
 */
export type Putting = "new" | "again";

/** Events on their way into a channel: put one after another, seen by takers all at once after commit. @stable */
export interface PutTransaction extends Transaction {
  /**
   * Adds an event; it is not visible before commit. Throws code `TRANSACTION_TOO_LARGE` beyond transactionCapacity, or
   * beyond the number that `openPut` was given when that is larger.
   */
  put(event: Event): void;
  /**
   * Keeps room for all events put so far until commit or rollback: a notification for several channels is put into the
   * first only when each has room for it. Resolves to true when the room is kept; to false when the channel cannot keep
   * room. Rejects as commit does when there is none; the transaction stays open and may try again. After it, commit
   * fails only when the device does, or after a stop. Absent: the channel cannot keep room.
   */
  reserve?(waiting: Waiting): Promise<boolean>;
  /**
   * Resolves when the events are as durable as this channel promises: all of them, or none. Rejects with code
   * `CHANNEL_FULL` (retryable) when there is no room before the time-out of the channel, with `NOTIFICATION_TOO_LARGE` (not
   * retryable) when they would not even fit into the empty channel; then none of the events is in the channel.
   */
  commit(): Promise<void>;
}

/**
 * Events on their way out of a channel: gone after commit, back in their place after rollback. Transactions may be committed
 * in any order. A log that can only be released up to a place keeps what stands behind an open transaction; after the end of
 * the process it may deliver that again, and says so with `isRedelivered`.
 * @stable
 */
export interface TakeTransaction extends Transaction {
  /**
   * Waits until the channel holds an event or the signal aborts, then returns up to `max` of what is there, oldest
   * first, or the services in turn, of each the oldest first; an empty list when nothing is, or when the transaction holds as much as
   * memory allows. May be called several times; all events belong to this transaction and stay counted in the channel until commit. Rollback
   * puts them back at the front, in order.
   */
  take(max: number, signal: AbortSignal): Promise<readonly Event[]>;
  /**
   * True for an event of this transaction that may have been delivered before: a take that was never committed had it, in
   * a process that ended or in another agent. Before such events are written the sink is asked which of them it has
   * (`SinkPositions.alreadyStored`). Absent for a channel that does not know, or whose positions say it.
   */
  isRedelivered?(event: Event): boolean;
  /**
   * Called once before `commit`, with what became of the events of this transaction: for a channel that keeps books with
   * other agents. Absent: it does not. @beta
   */
  settled?(events: SettledEvents): void;
  /**
   * These events of this transaction are done, all in one way, although earlier ones of it are not: a rollback gives back the others
   * only. Those of a channel with `positions.shared` stay counted until all before them are done; of another one see `Channel.holdsApart`. @beta
   */
  readonly leave?: ((events: readonly Event[], outcome: keyof SettledEvents) => Promise<void> | void) | undefined;
  /** Absent for channels that forget. */
  readonly positions?: TakePositions | undefined;
}

/** Positions of a durable channel, seen from one take transaction. @stable */
export interface TakePositions {
  /**
   * True when several agents take from the channel and move its positions at the same time: a sink that finds that another
   * one has moved a stored position goes on from there, with the events that it does not cover. Each position then stands for all
   * events of one order up to a place in it, so that of two with one name one covers what the other does; and all events of
   * a transaction belong to that order. Absent or false: a position that another agent moved is a mistake
   * (`POSITION_CONFLICT`).
   * @beta
   */
  readonly shared?: boolean;
  /**
   * True once other agents get the events of this transaction: what becomes of one that cannot be stored here is theirs to say, unless the
   * store tells. For a channel with `shared`.
   * @beta
   */
  readonly leaving?: boolean;
  /**
   * Where the channel stands once the first `count` of the events taken so far are done: to be stored with the rows and
   * given to `Channel.skipTo` at the next start. It includes what other transactions have committed and never what they
   * still hold, so each of several writers keeps its own latest position. The part before the first colon names the channel:
   * it must stay the same over restarts, and no other channel may have it. `outcomeOf` says what became of events that are
   * settled already, for a channel with books in its positions; all others count as stored.
   */
  after(count: number, outcomeOf?: (event: Event) => keyof SettledEvents | undefined): string;
  /**
   * The events taken so far that a stored position covers; none for a position of another channel. Throws code
   * `POSITION_FOREIGN` as `Channel.skipTo` does.
   */
  coveredBy(position: string): readonly Event[];
  /**
   * Names an event taken by this transaction: the same text whenever it is taken again, also after a restart, and never
   * that of another event. The dead letter of the event is known by it, and sinks see it (`idOf` of a batch). Undefined for an event of another transaction.
   */
  idOf(event: Event): string | undefined;
}

/** What a channel holds of one service. @beta */
export interface ServiceHolding {
  readonly service: string;
  readonly events: number;
  readonly bytes: number;
}

/** A queue with transactions between sources and sinks: first in, first out. @stable */
export interface Channel extends Lifecycle, Examined {
  /** Events in the channel, those taken but not committed included; undefined while the channel cannot tell. */
  readonly size: number | undefined;
  /**
   * What `size` counts. `exact`, or absent: what went in through this object, and what it found at its start, so that the
   * ledger adds up. `shared`: other agents put and take, too. `approximate`: it is an estimate. Of the latter two the ledger
   * shows the size and draws no conclusions.
   */
  readonly sizeIs?: "exact" | "shared" | "approximate";
  /** The most events a take transaction may hold, and a put transaction that is opened without a number. */
  readonly transactionCapacity: number;
  /** True when events outlive the process: then the ledger of the channel is kept over restarts, too. */
  readonly durable?: boolean;
  /** Of a durable channel: events that are in memory alone until it stops, and that a kill would lose; absent for none. @beta */
  readonly unsaved?: number;
  /**
   * True when takes may say of an event that it is redelivered; the takes of other channels are not asked. Where the positions are not
   * shared, and the channel says `holdsApart`, a sink that cannot tell holds up these events only where it names them.
   */
  readonly redelivers?: boolean;
  /**
   * True for a durable channel of one agent whose takes have `leave`: events of which a sink cannot tell whether it has them
   * (`SinkPositions.alreadyStored`) wait, and others behind them pass. @beta
   */
  readonly holdsApart?: boolean;
  /**
   * Events that were accepted and can no longer be read, since the channel was made: lost by damage of what it keeps. The
   * agent looks after the start and after each take, and at a log that agents share whenever it is asked for its books, and counts them as
   * lost. Below zero when events that it had counted before are back.
   */
  readonly lost?: number;
  /** Bytes that the events of the channel take where it keeps them, for statistics; absent when it does not count them. */
  readonly bytes?: number | undefined;
  /** The services of which it holds most, those first, for statistics; undefined when it does not count them. @beta */
  largestServices?(most: number): readonly ServiceHolding[] | undefined;
  /**
   * `events`: how many the transaction is to hold when that is more than transactionCapacity, because they belong
   * together. A channel that ignores it gets them in several transactions. `putting` matters to channels that limit services.
   */
  openPut(events?: number, putting?: Putting): PutTransaction;
  openTake(): TakeTransaction;
  /**
   * Leaves out what was done before a stored position, as if it had been committed. To be called between `start` and
   * the first take, once for each stored position; a position of another channel has no effect. Resolves to the number
   * of events that are left out. Rejects with code `POSITION_FOREIGN` for a position that has the name of this channel and
   * cannot come from it, because its folder was copied or restored: to leave out what it covers would be to lose it.
   */
  skipTo?(position: string): Promise<number>;
  /**
   * Leaves out events that have a dead letter, as if they had been committed: the process ended, or the channel was
   * replaced, before they were. To be called between `start` and the first take with the ids of all dead letters; each is
   * what `idOf` returned, followed by a hyphen and more, and those of other channels have no effect. Resolves to the number
   * of events that are left out.
   */
  leaveOut?(ids: AsyncIterable<string>): Promise<number>;
  /**
   * Called at a stop, when the grace period is over and sources still wait for puts: these reject at once, also where the channel
   * does not know yet what becomes of them, so that their senders get an answer. `stop` follows. Absent: they are not answered. @beta
   */
  abandonPuts?(): void;
  /**
   * The parts of a channel that agents share, by name, as far as this agent knows: for statistics, so at once and without
   * asking the engine. Absent for a channel of one agent; empty before the start. @beta
   */
  parts?(): readonly ChannelPart[];
  /** The log of a channel that agents share, as `parts` tells it; undefined before the start. @beta */
  log?(): LogSummary | undefined;
  /**
   * Where dead letters of its events are kept for all agents: undefined while its log is not open, and no member for a channel
   * of one agent. Nothing is taken before they are followed. @beta
   */
  readonly letters?: SharedLetters | undefined;
}

/**
 * Names of channels. The notification is refused when a required one fails; a failing optional one is only logged.
 * @stable
 */
export interface Selection {
  readonly required: readonly string[];
  readonly optional: readonly string[];
}

/** Chooses the channels of each event among those of its source. @stable */
export interface ChannelSelector {
  select(event: Event): Selection;
}
