import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { FailureLog } from "../../sdk/failure-log.js";
import {
  AgentError,
  codeOf,
  type HealthReport,
  type Logger,
  type LogSummary,
  reasonOf,
  type SharedLetter,
  type SharedLetters,
} from "../../sdk/index.js";
import type { Erasures } from "../erasures.js";
import type { DeadLetters } from "./dead-letters.js";
import { Freshness } from "./freshness.js";
import { LateLetters } from "./late-letters.js";
import { OwnChanges, sharingStopped } from "./own-changes.js";
import type { LetterChange, LetterSharing } from "./shared-changes.js";
import { textOfEntry } from "./shared-entries.js";
import { SharedErasures } from "./shared-erasures.js";
import { TakenEntries } from "./taken-entries.js";

/** Milliseconds before the letters are followed again after a failure. */
const pauseAfterFailure = 1000;
/** Milliseconds between two looks whether the log is open. */
const pauseUntilOpen = 100;
/** Milliseconds between two attempts to have settled letters removed from the log. */
const forgetInterval = 60_000;

interface LetterFollowerParts {
  /** Undefined while the log is not open. */
  readonly shared: () => SharedLetters | undefined;
  readonly summary: () => LogSummary | undefined;
  readonly letters: Pick<DeadLetters, "share" | "apply" | "closeBefore" | "oldestOffset" | "markStored">;
  readonly erasures: Pick<Erasures, "all" | "take">;
  readonly log: Logger;
  /** Says whether the letters of others can be taken over: without them nothing is stored. */
  readonly report?: (health: HealthReport) => void;
  /** Called when the log is open. */
  readonly opened?: (log: LogSummary) => void;
  /** Milliseconds that an entry may take from the log to this agent's files; absent: 20,000. */
  readonly longestReturn?: number;
}

/**
 * The dead letters of one channel that agents share. Each change is an entry of the log that the agents share; all of them
 * follow it and make the changes in its order, those of their own included: so all come to the same letters. Erasures are
 * entries, too.
 */
export class LetterFollower implements LetterSharing {
  readonly #parts: LetterFollowerParts;
  /** Tells own entries from those of others. */
  readonly #by = randomUUID();
  readonly #ending = new AbortController();
  readonly #erasures: SharedErasures;
  readonly #own: OwnChanges;
  readonly #late: LateLetters;
  readonly #taken: TakenEntries;
  readonly #sinks = new Set<string>();
  readonly #freshness: Freshness;
  readonly #failures: FailureLog;
  #isCaughtUp = false;
  /** Why entries of the log could not be taken over; undefined once they are. */
  #notTakenOver: unknown;
  #following: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: LetterFollowerParts) {
    this.#parts = parts;
    this.#own = new OwnChanges(parts.longestReturn);
    this.#erasures = new SharedErasures(parts.erasures);
    this.#late = new LateLetters({ letters: parts.letters, log: parts.log });
    this.#taken = new TakenEntries({
      letters: parts.letters,
      erasures: this.#erasures,
      own: this.#own,
      late: this.#late,
      by: this.#by,
      log: parts.log,
      sinks: this.#sinks,
      add: (sink) => this.add(sink),
    });
    this.#freshness = new Freshness({ catchUp: () => parts.shared()?.caughtUp?.(), log: parts.log });
    this.#failures = new FailureLog(parts.log, "shared dead letters are followed again");
  }

  get log(): string {
    return this.#taken.of.log;
  }

  isMine(run: string): boolean {
    return run === this.#agent;
  }

  isAtWork(run: string): boolean {
    return this.isMine(run) || (this.#parts.summary()?.agents ?? []).some((agent) => agent.run === run);
  }

  /** Whether an event of the channel, by what its positions call it, has a letter of some agent. */
  has(idInChannel: string): boolean {
    return this.#taken.has(idInChannel);
  }

  /** This agent has stored events of the channel, by what its positions call them: a letter that some agent writes of one is stored, too. */
  stored(idsInChannel: readonly string[]): void {
    for (const id of idsInChannel) this.#late.stored(id, this.#taken.letter(id));
  }

  /** See {@link Freshness.upToDate}. */
  async upToDate(signal: AbortSignal, milliseconds?: number): Promise<void> {
    await this.#freshness.upToDate(signal, milliseconds);
  }

  /** Resolves to true when every entry that was there is taken over; to false when it stops before that. */
  async start(): Promise<boolean> {
    this.#timer = setInterval(() => {
      void this.#shareErasures();
      void this.forgetSettled();
    }, forgetInterval).unref();
    return await new Promise<boolean>((resolve) => {
      this.#following = this.#follow(() => resolve(true)).finally(() => resolve(false));
    });
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#ending.abort();
    this.#own.fail(sharingStopped());
    await this.#following;
    for (const sink of this.#sinks) await this.#parts.letters.share(sink, undefined);
  }

  /** From now on the letters of this sink are shared. */
  async add(sink: string): Promise<void> {
    if (this.#sinks.has(sink)) return;
    this.#sinks.add(sink);
    await this.#parts.letters.share(sink, this);
  }

  async publish(changes: readonly LetterChange[], signal?: AbortSignal): Promise<readonly (number | undefined)[]> {
    const shared = this.#parts.shared();
    if (this.#ending.signal.aborted || shared === undefined)
      throw this.#ending.signal.aborted ? sharingStopped() : notOpen();
    // It would not come back either, and each attempt would add it to the log, and to the files of all others, once more.
    if (this.#notTakenOver !== undefined) throw notTakenOver(this.#notTakenOver);
    const agent = this.#agent;
    const { group } = this.#taken.of;
    return await this.#own.published(changes, {
      append: (numbered, waited) => {
        const texts = numbered.map(({ change, number }) =>
          textOfEntry({ kind: "change", change, agent, group, by: this.#by, number }),
        );
        return shared.append(texts, waited);
      },
      signal: signal ?? this.#ending.signal,
    });
  }

  async publishLetters(changes: readonly LetterChange[], signal?: AbortSignal): Promise<readonly LetterChange[]> {
    if (changes.length === 0) return [];
    try {
      await this.publish(changes, signal);
      return [];
    } catch (error) {
      if (codeOf(error) !== "RECORD_TOO_LARGE") throw error;
      if (changes.length === 1) return changes;
      const half = Math.ceil(changes.length / 2);
      const first = await this.publishLetters(changes.slice(0, half), signal);
      return [...first, ...(await this.publishLetters(changes.slice(half), signal))];
    }
  }

  /** Resolves when the log has every erasure of this agent; the other agents follow it. */
  async shareErasures(): Promise<void> {
    const shared = this.#parts.shared();
    if (this.#ending.signal.aborted) throw sharingStopped();
    if (shared === undefined || !this.#isCaughtUp) throw notOpen();
    const missing = this.#erasures.missing();
    if (missing.length === 0) return;
    const { group } = this.#taken.of;
    await shared.append(missing.map((erasure) => textOfEntry({ kind: "erasure", erasure, group })));
  }

  /** Has the log forget what no agent needs any more; one agent at a time does it. */
  async forgetSettled(): Promise<void> {
    const { letters, log } = this.#parts;
    const shared = this.#parts.shared();
    const isFirst = this.#parts.summary()?.agents[0]?.mine === true;
    const { changes } = this.#taken;
    if (shared === undefined || !isFirst || !this.#isCaughtUp || changes === 0 || this.#ending.signal.aborted) return;
    let before = this.#taken.oldest();
    try {
      for (const sink of this.#sinks) before = Math.min(before, (await letters.oldestOffset(sink)) ?? before);
      await shared.append([textOfEntry({ kind: "forgotten", before })]);
      await shared.forget(before);
      this.#taken.forgot(changes);
    } catch (error) {
      log.debug({ reason: reasonOf(error) }, "settled dead letters stay in the log, will be tried again");
    }
  }

  get #agent(): string {
    return this.#parts.summary()?.agents.find(({ mine }) => mine)?.run ?? this.#by;
  }

  async #follow(started: () => void): Promise<void> {
    const { signal } = this.#ending;
    const caughtUp = () => {
      this.#freshness.heard();
      this.#isCaughtUp = true;
      this.#takenOver();
      started();
      void this.#shareErasures();
    };
    const entries = async (some: readonly SharedLetter[]) => {
      this.#freshness.heard();
      try {
        await this.#taken.takeOver(some);
        this.#failures.works();
        this.#takenOver();
      } catch (error) {
        this.#notTakenOver = error;
        this.#parts.report?.({ state: "down", reason: reasonOf(notTakenOver(error)) });
        throw error;
      }
    };
    const listener = { entries, caughtUp };
    while (!signal.aborted) {
      const shared = this.#parts.shared();
      const summary = this.#parts.summary();
      const isOpen = shared !== undefined && summary !== undefined;
      try {
        if (isOpen) {
          await this.#open(summary);
          await shared.follow(this.#taken.next, listener, signal);
        }
      } catch (error) {
        this.#own.fail(error);
        this.#failures.failed("error", error, { message: "shared dead letters are not followed, will be tried again" });
      }
      const milliseconds = isOpen ? pauseAfterFailure : pauseUntilOpen;
      await pause(milliseconds, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  #takenOver(): void {
    if (this.#notTakenOver !== undefined) this.#parts.report?.({ state: "up" });
    this.#notTakenOver = undefined;
  }

  /** Those of a process before this one, or of a time without the log. */
  async #shareErasures(): Promise<void> {
    try {
      await this.shareErasures();
    } catch (error) {
      this.#parts.log.debug({ reason: reasonOf(error) }, "erasures are not shared yet, will be tried again");
    }
  }

  /** What of the files is shared depends on the log. */
  async #open(summary: LogSummary): Promise<void> {
    const { id, group } = summary;
    if (this.log === id) return;
    this.#parts.opened?.(summary);
    this.#taken.begin({ log: id, group });
    for (const sink of this.#sinks) await this.#parts.letters.share(sink, this);
  }
}

function notOpen(): AgentError {
  const message = "sharing dead letters or erasures: the log that agents share is not open yet";
  return new AgentError("LOG_UNAVAILABLE", message, { retryable: true });
}

function notTakenOver(cause: unknown): AgentError {
  const message = "sharing dead letters: those that are in the log cannot be taken over now";
  return new AgentError("DEAD_LETTERS_NOT_SHARED", message, { cause, retryable: true });
}
