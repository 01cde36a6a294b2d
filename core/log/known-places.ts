import { letterHeader } from "../sdk/index.js";
import {
  atBeginning,
  isLetterOfOthers,
  isUpTo,
  type LogPosition,
  later,
  letterPlace,
  type PositionOwner,
  positionOf,
} from "./log-position.js";
import type { Members } from "./members.js";
import type { OwnPart } from "./own-parts.js";
import type { KnownOfEvents } from "./part-queue.js";
import type { QueuedPartEvent } from "./read-edge.js";

interface KnownPlacesParts {
  readonly owner: PositionOwner;
  readonly members: Pick<Members, "done">;
  /** By part, the newest offset that this agent has seen, kept over restarts; absent: nothing is kept. */
  readonly reached?: Map<number, number> | undefined;
  /** True once a sink has taken: then sinks have told what is stored. */
  hasTaken(): boolean;
  own(part: number): OwnPart | undefined;
  /** Begins again with a part of which more is done than was read; false when it need not, or cannot. */
  beginAgain(part: number, done: LogPosition): boolean;
}

/** The events of a part that have a dead letter and are not known to be done. */
interface Letters {
  readonly places: Map<string, Pick<QueuedPartEvent, "offset" | "index">>;
  /** When it holds more, those that are done are removed. */
  most: number;
}

const LEAST_LETTERS = 1000;

/** What is done already, as stored positions and dead letters say. */
export class KnownPlaces {
  readonly #parts: KnownPlacesParts;
  readonly #stored = new Map<number, LogPosition>();
  readonly #left = new Map<number, Letters>();
  /** By part, the newest offset that this agent had seen before the log was opened, and has seen since. */
  readonly #before: ReadonlyMap<number, number>;
  readonly #seen = new Map<number, number>();
  /** Parts in which a record was appended where this agent had seen another one. */
  readonly #replaced = new Set<number>();

  constructor(parts: KnownPlacesParts) {
    this.#parts = parts;
    this.#before = new Map(parts.reached);
  }

  /** True once sinks have told what is stored. */
  get isStoredKnown(): boolean {
    return this.#parts.hasTaken();
  }

  /** The newest record of the part that this agent had seen before the log was opened; -1 for none. */
  seenBefore(part: number): number {
    return this.#before.get(part) ?? -1;
  }

  /** Whether the part has a new record where this agent had seen another one before the log was opened. */
  isReplaced(part: number): boolean {
    return this.#replaced.has(part);
  }

  /** A record that this agent has appended to the part. */
  appended(part: number, offset: number): void {
    if (offset <= this.seenBefore(part)) this.#replaced.add(part);
    this.see(part, offset);
  }

  /** A record that this agent has appended to the part, or read. */
  see(part: number, offset: number): void {
    const seen = Math.max(offset, this.#seen.get(part) ?? -1);
    this.#seen.set(part, seen);
    // Once it is known what is stored, a log that was restored together with the database is as long as it is now.
    this.#parts.reached?.set(part, this.isStoredKnown ? seen : Math.max(seen, this.seenBefore(part)));
  }

  /** Up to where positions say that the part is stored. */
  stored(part: number): LogPosition | undefined {
    return this.#stored.get(part);
  }

  /** What the part has before this offset counts as stored, or was read; until that is known, what this agent had seen may count so. */
  lengthOf(part: number): number {
    const { members, own } = this.#parts;
    const done = later(later(atBeginning, members.done(part)), this.#stored.get(part));
    const before = this.isStoredKnown ? -1 : this.seenBefore(part);
    return Math.max(done.offset + 1, own(part)?.queue.next ?? 0, before + 1);
  }

  /** Tells which events of the part have a dead letter, and which are replayed for another group. */
  knownOf(part: number): KnownOfEvents {
    const places = this.#left.get(part)?.places;
    return {
      hasLetter: ({ offset, index }) => places?.has(placeKey({ offset, index })) === true,
      isOfOthers: ({ headers }) => isLetterOfOthers(this.#parts.owner, headers[letterHeader]),
    };
  }

  /** What a stored position says is done; the number of events that are left out. */
  skipTo(text: string): number {
    const { owner, members, own, beginAgain } = this.#parts;
    const found = positionOf(owner, text);
    if (found === undefined) return 0;
    const { part, position } = found;
    const known = later(later(atBeginning, members.done(part)), this.#stored.get(part));
    this.#stored.set(part, later(position, this.#stored.get(part)));
    if (beginAgain(part, position)) return Math.max(0, position.events - known.events);
    return own(part)?.queue.skipTo(position) ?? Math.max(0, position.events - known.events);
  }

  /** An event with this id has a dead letter; false when it is no event of this log and group. */
  leaveOut(id: string): boolean {
    const place = letterPlace(this.#parts.owner, id);
    if (place === undefined) return false;
    const { part } = place;
    const left: Letters = this.#left.get(part) ?? { places: new Map(), most: LEAST_LETTERS };
    left.places.set(placeKey(place), place);
    this.#left.set(part, left);
    this.#parts.own(part)?.queue.leaveOut(place);
    if (left.places.size > left.most) this.#removeDone(part, left);
    return true;
  }

  /** What is done is not read again. */
  #removeDone(part: number, left: Letters): void {
    const elsewhere = later(later(atBeginning, this.#parts.members.done(part)), this.#stored.get(part));
    const done = this.#parts.own(part)?.queue.done ?? elsewhere;
    for (const [key, place] of left.places) if (isUpTo(place, done)) left.places.delete(key);
    left.most = Math.max(LEAST_LETTERS, 2 * left.places.size);
  }
}

function placeKey({ offset, index }: Pick<QueuedPartEvent, "offset" | "index">): string {
  return `${offset}+${index}`;
}
