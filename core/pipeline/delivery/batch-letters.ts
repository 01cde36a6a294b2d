import { type Event, type Logger, letterHeader, type TakeTransaction } from "../../sdk/index.js";
import type { ReplayedLetters } from "../dead-letters/replayed-letters.js";
import type { ChannelOutlet } from "./channel-outlet.js";

interface BatchLettersParts {
  /** Shared by all feeds of one channel; it gets to know the letters of other agents later. */
  readonly outlet: Pick<ChannelOutlet, "settlements"> & {
    readonly letters?: Pick<NonNullable<ChannelOutlet["letters"]>, "has" | "upToDate" | "stored"> | undefined;
  };
  readonly replayed?: ReplayedLetters | undefined;
  readonly log: Logger;
}

/** What dead letters mean for a batch that was taken: which of its events they settle, and which of them its events settle. */
export class BatchLetters {
  readonly #parts: BatchLettersParts;

  constructor(parts: BatchLettersParts) {
    this.#parts = parts;
  }

  /** Before the batch is delivered: settles replayed events that are stored already, and events that have a dead letter. */
  async settleKnown(events: readonly Event[], transaction: TakeTransaction): Promise<void> {
    const { outlet, replayed } = this.#parts;
    const { settlements } = outlet;
    if (replayed !== undefined && events.some(isReplayed)) {
      const isStored = (event: Event) => settlements.outcomeOf(event) === "stored";
      const { own, others } = await replayed.repeated(events, isStored);
      settlements.note(settlements.open(own), "elsewhere");
      settlements.note(settlements.open(others), "filtered");
    }
    this.#settleKept(settlements.open(events), transaction);
  }

  /**
   * Before settled events leave the channel: marks the letters of those that were replayed, says which others are stored, and looks for
   * letters of other agents.
   */
  async close(events: readonly Event[], transaction: TakeTransaction, hurry: AbortSignal): Promise<void> {
    const replayed = events.filter(isReplayed);
    if (replayed.length > 0) await this.#markStored(replayed);
    this.#noteStored(events, transaction);
    await this.#settleKeptElsewhere(events, transaction, hurry);
  }

  async #markStored(events: readonly Event[]): Promise<void> {
    const { outlet, replayed } = this.#parts;
    const { settlements } = outlet;
    const ended = (...outcomes: readonly string[]) =>
      events.filter((event) => outcomes.includes(settlements.outcomeOf(event) ?? ""));
    if (replayed === undefined) return;
    // The first mark in the log says which replay counts as stored, whichever agent made the row.
    settlements.note(await replayed.stored(ended("stored")), "stored-before");
    const known = await replayed.doneElsewhere(ended("elsewhere", "stored-before"));
    settlements.note(known.failed, "dead-lettered");
    settlements.note(known.others, "stored-before");
    // Also of those that were left out, or refused, before this agent heard of the mark.
    settlements.note(await replayed.ownStored(ended("filtered", "stored-before", "dead-lettered")), "elsewhere");
  }

  /** Of what this agent stores another one, which lost it, may write a dead letter at this moment. */
  #noteStored(events: readonly Event[], { positions }: TakeTransaction): void {
    const { settlements, letters } = this.#parts.outlet;
    if (letters === undefined || positions === undefined) return;
    const areAll = settlements.count(events).stored === events.length;
    const stored = areAll ? events : events.filter((event) => settlements.outcomeOf(event) === "stored");
    letters.stored(stored.flatMap((event) => (isReplayed(event) ? [] : (positions.idOf(event) ?? []))));
  }

  /** An event that already has a dead letter, written by an agent that ended before it committed: the letter settles it. */
  #settleKept(events: readonly Event[], { positions }: TakeTransaction): void {
    const { settlements, letters } = this.#parts.outlet;
    if (letters === undefined || positions === undefined) return;
    const kept = events.filter((event) => {
      const id = isReplayed(event) ? undefined : positions.idOf(event);
      return id !== undefined && letters.has(id);
    });
    if (kept.length === 0) return;
    settlements.note(kept, "dead-lettered");
    this.#parts.log.info({ events: kept.length }, "events that have a dead letter already are left out");
  }

  /** Another agent is done with an event: it may have become a dead letter there, just now. */
  async #settleKeptElsewhere(
    events: readonly Event[],
    transaction: TakeTransaction,
    hurry: AbortSignal,
  ): Promise<void> {
    const { settlements, letters } = this.#parts.outlet;
    if (letters === undefined || settlements.elsewhere(events) === 0) return;
    const isElsewhere = (event: Event) => settlements.outcomeOf(event) === "elsewhere";
    // The books can wait for no log, and what is done is done.
    await letters.upToDate(hurry, 0).catch(() => undefined);
    this.#settleKept(events.filter(isElsewhere), transaction);
  }
}

function isReplayed({ headers }: Event): boolean {
  return headers[letterHeader] !== undefined;
}
