import { AgentError, type Logger } from "../sdk/index.js";
import type { Clocks } from "./agent-reports.js";
import { atBeginning, type LogPosition, later } from "./log-position.js";
import type { Members } from "./members.js";
import { PartQueue } from "./part-queue.js";
import type { Bounds, LogPart, PartitionedLog } from "./partitioned-log.js";
import { PassedOver } from "./passed-over.js";
import type { ReadRecords } from "./read-edge.js";

interface OwnPartsParts {
  readonly log: Pick<PartitionedLog, "bounds">;
  readonly partitions: number;
  readonly gapless: boolean;
  readonly members: Pick<Members, "share" | "worker" | "done" | "hasOthers">;
  readonly clocks: Clocks;
  readonly sessionMillis: number;
  /** Milliseconds of waiting for `prepared` after which others get the parts. */
  readonly stallMillis: number;
  /** True once a sink has taken: then it has told what it has stored. */
  hasTaken(): boolean;
  /** True while the other agents know of this one: else they may work on its parts. */
  isHeard(): boolean;
  /** Up to where positions say that a part is stored. */
  stored(part: number): LogPosition | undefined;
  /** Resolves when what must be known of a part before it is read is known. */
  prepared(): Promise<void>;
  /** Asks for a `settle` whose outcome is reported. */
  resettle(): void;
  /** The parts of this agent have changed. */
  changed(): void;
  readonly logger: Logger;
}

/** A part that this agent works on. */
export interface OwnPart {
  readonly queue: PartQueue;
  /** Where the log ended when this agent began with it. */
  readonly end: number;
  /** Takes that hold events of it. */
  holders: number;
  /** True once it belongs to another agent: what is taken is finished, and nothing else. */
  leaving: boolean;
}

/** The parts that this agent works on: takes those of its share as soon as nobody else does, and gives others away. */
export class OwnParts {
  readonly #parts: OwnPartsParts;
  readonly #own = new Map<number, OwnPart>();
  /** Since when this agent waits for another one to leave a part. */
  readonly #wanted = new Map<number, number>();
  /** Up to where parts were done when they were given away. */
  readonly #left = new Map<number, LogPosition>();
  /** Parts whose log ends before their stored position. */
  readonly #ahead = new Set<number>();
  /** Since when records behind what is known to be done are gone. */
  readonly #gone = new Map<number, number>();
  readonly #passedOver: PassedOver;
  #settling: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;
  /** Since when it waits for what must be known of parts before they are taken. */
  #unpreparedSince: number | undefined;
  #resettling: NodeJS.Immediate | undefined;

  constructor(parts: OwnPartsParts) {
    this.#parts = parts;
    this.#passedOver = new PassedOver(parts);
  }

  get all(): ReadonlyMap<number, OwnPart> {
    return this.#own;
  }

  /**
   * Gives away at once and takes, one call after another, what the reports of the agents say; calls that come while one waits share
   * the next. Rejects when the log cannot be asked.
   */
  settle(): Promise<void> {
    this.#giveAway();
    this.#next ??= this.#settling
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined;
        this.#settling = this.#take();
        return this.#settling;
      });
    return this.#next;
  }

  /** True when it cannot take parts for a long time, as where the dead letters of others cannot be written. */
  isHeldUp(now: number): boolean {
    return (this.#unpreparedSince ?? now) < now - this.#parts.stallMillis;
  }

  /** A take that held events of the part has ended. */
  ended(part: number): void {
    const own = this.#own.get(part);
    if (own === undefined) return;
    own.holders -= 1;
    this.#dropIfLeft(part, own);
  }

  /**
   * Begins again with a part of which more is done than was read, and looks where the log ends now; false for one that
   * was read that far, and for one of which a take holds events.
   */
  beginAgain(part: number, { offset }: LogPosition): boolean {
    const own = this.#own.get(part);
    if (own === undefined || own.holders > 0 || offset < own.queue.next) return false;
    this.#own.delete(part);
    this.#resettle();
    return true;
  }

  /** Whether records that were read of the part have to wait, because one before them was passed over. */
  waitsFor({ queue }: OwnPart, read: ReadRecords): boolean {
    return this.#passedOver.look(queue, read) === "wait";
  }

  #resettle(): void {
    this.#resettling ??= setImmediate(() => {
      this.#resettling = undefined;
      this.#parts.resettle();
    });
  }

  get #share(): ReadonlySet<number> {
    const { members, partitions, clocks, isHeard } = this.#parts;
    return isHeard() ? members.share(partitions, clocks.steady()) : new Set();
  }

  #giveAway(): void {
    const share = this.#share;
    for (const [part, own] of this.#own) {
      if (share.has(part)) continue;
      if (!own.leaving) own.queue.discardWaiting();
      own.leaving = true;
      this.#dropIfLeft(part, own);
    }
    for (const since of [this.#wanted, this.#gone, this.#passedOver.since])
      for (const part of since.keys()) if (!share.has(part)) since.delete(part);
  }

  async #take(): Promise<void> {
    if (this.#free().length === 0) return;
    await this.#prepared();
    // It may have taken long, and other agents work on them by now.
    this.#giveAway();
    const free = this.#free();
    if (free.length > 0) await this.#takeFree(free);
  }

  async #prepared(): Promise<void> {
    this.#unpreparedSince = this.#parts.clocks.steady();
    try {
      await this.#parts.prepared();
    } finally {
      this.#unpreparedSince = undefined;
    }
  }

  #free(): readonly number[] {
    return [...this.#share].filter((part) => this.#isFree(part));
  }

  /** Another agent that works on the part is waited for, for one session. */
  #isFree(part: number): boolean {
    const { members, clocks, sessionMillis } = this.#parts;
    if (this.#own.has(part)) return false;
    const now = clocks.steady();
    const since = this.#wanted.get(part) ?? now;
    this.#wanted.set(part, since);
    return members.worker(part, now) === undefined || now - since > sessionMillis;
  }

  async #takeFree(parts: readonly number[]): Promise<void> {
    const { log, changed } = this.#parts;
    const before = new Map(parts.map((part) => [part, this.#from(part).offset]));
    const bounds = await log.bounds(parts);
    let isChanged = false;
    for (const [part, found] of bounds) {
      if (typeof part !== "number") continue;
      const from = this.#from(part);
      const isAhead = from.offset >= found.next && from.offset >= 0;
      // More was appended and stored since the log was asked where it ends.
      if (isAhead && from.offset !== before.get(part)) this.#resettle();
      else if (isAhead) this.#reportAhead(part, from, found.next);
      else if (!this.#awaitsNews(part, from, found.first)) {
        this.#begin(part, from, found);
        isChanged = true;
      }
    }
    // A report of what is as before would be heard, and have this done again at once.
    if (isChanged) changed();
    requireAll(parts, bounds);
  }

  #begin(part: number, from: LogPosition, { first, next }: Bounds): void {
    const { members, gapless } = this.#parts;
    const queue = new PartQueue(part, from, members.hasOthers ? next : 0, gapless);
    // In other logs a read begins with the oldest record that is there, whatever the log says of where that is. Where there is
    // none, what this agent appends is known to be the next one.
    if (gapless || first >= next) queue.skip(first);
    this.#own.set(part, { queue, end: next, holders: 0, leaving: false });
    this.#ahead.delete(part);
    this.#wanted.delete(part);
  }

  #from(part: number): LogPosition {
    const { members, stored } = this.#parts;
    return later(later(later(atBeginning, members.done(part)), stored(part)), this.#left.get(part));
  }

  /**
   * Where records behind what is known to be done are gone, others have stored them and this agent has not heard of it yet; only when
   * that stays so for a session they are lost.
   */
  #awaitsNews(part: number, { offset }: LogPosition, first: number): boolean {
    const { gapless, clocks, sessionMillis } = this.#parts;
    if (!gapless || offset < 0 || first <= offset + 1) {
      this.#gone.delete(part);
      return false;
    }
    const now = clocks.steady();
    const since = this.#gone.get(part) ?? now;
    this.#gone.set(part, since);
    return now - since < sessionMillis;
  }

  #reportAhead(part: number, { offset }: LogPosition, next: number): void {
    if (this.#ahead.has(part)) return;
    this.#ahead.add(part);
    this.#parts.logger.error(
      { partition: part, stored: offset, next },
      "the log ends before what is stored of this partition: either it is behind, or it has lost records and new ones would count " +
        "as stored; nothing of the partition is delivered, and what is put into it is refused, until the log is as long again. To end " +
        "that earlier, stop all agents and start them with a log of another name",
    );
  }

  #dropIfLeft(part: number, own: OwnPart): void {
    if (!own.leaving || own.holders > 0) return;
    this.#left.set(part, own.queue.done);
    this.#own.delete(part);
    this.#parts.changed();
  }
}

/** Throws where the log does not say what some of the parts hold. */
function requireAll(parts: readonly number[], bounds: ReadonlyMap<LogPart, Bounds>): void {
  const left = parts.filter((part) => !bounds.has(part));
  if (left.length === 0) return;
  const message = `taking partition ${left.join(", ")} of the log: it does not say now what is in there`;
  throw new AgentError("LOG_UNAVAILABLE", message, { retryable: true });
}
