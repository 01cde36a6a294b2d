import { SerialQueue } from "../../files/serial-queue.js";
import { AgentError, type Logger } from "../../sdk/index.js";
import type { Clock } from "../../tokens.js";
import { Compaction } from "./compaction.js";
import {
  type DeadLetter,
  type LetterMark,
  type LetterRecord,
  lineOf,
  type OpenLetter,
  type SentLetter,
  type SharedPlace,
} from "./dead-letter.js";
import { Dropping } from "./dropping.js";
import type { DeadLetterFile } from "./file.js";
import { type LetterCounts, LetterIndex } from "./letter-index.js";
import { isOpen, type LetterEntry, type MarkCondition } from "./letter-table.js";
import { type DeadLetterLimits, lettersFull } from "./limits.js";
import { OldLetters } from "./old-letters.js";
import { type LetterIds, portionsOf } from "./portions.js";
import { appliedChanges, type LetterSharing, type PlacedChange } from "./shared-changes.js";
import { type Marking, SharedMarks } from "./shared-marks.js";

interface OwnedRecord {
  readonly record: LetterRecord;
  /** Whether this process made it. */
  readonly own: boolean;
}

interface SinkLettersParts {
  readonly sink: string;
  readonly file: DeadLetterFile;
  /** Of this process. */
  readonly run: string;
  readonly limits: DeadLetterLimits;
  readonly clock: Clock;
  readonly log: Logger;
  /** Milliseconds since some moment; nobody sets them. */
  readonly uptime: () => number;
}

/** The dead letters of one sink: one file, changed by one after another. */
export class SinkLetters {
  readonly #parts: SinkLettersParts;
  readonly #old: OldLetters;
  readonly #compaction: Compaction;
  readonly #dropping: Dropping;
  readonly #shared: SharedMarks;
  #index: LetterIndex | undefined;
  #sharing: LetterSharing | undefined;
  readonly #changes = new SerialQueue();

  constructor(parts: SinkLettersParts) {
    this.#parts = parts;
    const index = () => this.index();
    this.#compaction = new Compaction({ ...parts, index, inTurn: (work) => this.#changes.run(work) });
    this.#dropping = new Dropping({
      ...parts,
      compaction: this.#compaction,
      isShared: () => this.#sharing !== undefined,
      read: () => this.#read(),
      mark: (ids, when) => this.mark(ids, "dropped", when),
    });
    this.#shared = new SharedMarks({ ...parts, index });
    this.#old = new OldLetters({ ...parts, index, drop: (ids, when) => this.drop(ids, when) });
  }

  /** Mends what a crash left and reads what is there. */
  async start(): Promise<void> {
    const { file, sink, log } = this.#parts;
    // Read before it is mended: a file of a later version stays as it was written.
    const before = await this.index();
    const { isCompleted, cut } = await this.#changes.run(() => file.mend());
    if (isCompleted) this.#index = undefined;
    const { unreadable, settledTexts } = isCompleted ? await this.index() : before;
    if (cut > 0) log.warn({ sink, bytes: cut, file: file.path }, "an incomplete end of dead letters was cut off");
    if (unreadable > 0) log.warn({ sink, lines: unreadable, file: file.path }, "dead letters that cannot be read stay");
    if (settledTexts > 0) this.#compaction.later();
  }

  async stop(): Promise<void> {
    await this.#compaction.stop(this.#index);
    await this.#changes.idle();
  }

  async index(): Promise<LetterIndex> {
    return await this.#changes.run(() => this.#read());
  }

  /** The letters that are open when they are read, oldest first. */
  async *open(): AsyncGenerator<OpenLetter> {
    yield* this.#parts.file.open(await this.index());
  }

  /** Undefined until the file was read once. */
  counts(): LetterCounts | undefined {
    const counts = this.#index?.counts(this.#parts.sink);
    return counts === undefined || this.#sharing === undefined ? counts : { ...counts, shared: true };
  }

  /** From now on its letters are those of several agents; undefined: they are no longer. */
  async share(sharing: LetterSharing | undefined): Promise<void> {
    await this.#changes.run(async () => {
      this.#sharing = sharing;
      // Read again: what of it is shared depends on the log.
      if (sharing !== undefined) this.#index = undefined;
    });
  }

  /** Keeps all of these letters; throws code DEAD_LETTERS_FULL when there is no room for them, and keeps none. */
  async keep(letters: readonly DeadLetter[], signal?: AbortSignal): Promise<void> {
    const sharing = this.#sharing;
    if (sharing === undefined) return await this.#keepOwn(letters);
    const index = await this.#changes.run(async () => {
      const index = await this.#read();
      await this.#withRoom(
        letters.filter(({ id }) => !isOpenEntry(index.entry(id))),
        index,
      );
      return index;
    });
    const { sink, log } = this.#parts;
    const changes = letters.map((letter) => ({ sink, record: againOf(letter, index.entry(letter.id)) }));
    const own = await sharing.publishLetters(changes, signal);
    if (own.length === 0) return;
    log.warn({ sink, letters: own.length }, "dead letters are too large to be shared: only this agent has them");
    const ids = new Set(own.map(({ record }) => record.id));
    await this.#keepOwn(letters.filter(({ id }) => ids.has(id)));
  }

  /** Takes over what agents changed; resolves to which of it counts. */
  async apply(changes: readonly PlacedChange[]): Promise<readonly boolean[]> {
    return await this.#changes.run(async () => {
      const index = await this.#read();
      const { records, counted } = appliedChanges(changes, (id) => index.entry(id));
      await this.#add(records, index);
      return counted;
    });
  }

  /** Closes shared letters up to a place: they were settled while this agent did not hear of it. */
  async closeBefore(place: SharedPlace): Promise<void> {
    const { file, clock, run } = this.#parts;
    const oldest = (await this.index()).oldestOffset();
    if (oldest === undefined || oldest > place.offset) return;
    await this.#changes.run(async () => {
      const index = await this.#read();
      const time = clock.now().toISOString();
      const records: OwnedRecord[] = [];
      for await (const { id, shared } of file.open(index)) {
        const isGone = shared !== undefined && shared.log === place.log && shared.offset <= place.offset;
        if (isGone) records.push({ record: { id, mark: "dropped", time, run, shared: place }, own: false });
      }
      await this.#add(records, index);
    });
  }

  async #keepOwn(letters: readonly DeadLetter[]): Promise<void> {
    await this.#changes.run(async () => {
      const index = await this.#read();
      const before = letters.map(({ id }) => index.entry(id));
      const records = letters.map((letter, at) => againOf(letter, before[at]));
      const fresh = records.filter((_record, at) => !isOpenEntry(before[at]));
      await this.#add(owned(records), await this.#withRoom(fresh, index));
    });
  }

  /** Marks the letters for which the condition holds at that moment; resolves to their ids. */
  async mark(
    ids: readonly string[],
    mark: LetterMark["mark"],
    when: MarkCondition = () => true,
  ): Promise<readonly string[]> {
    return (await this.#mark(ids, { mark, when })).map(({ id }) => id);
  }

  /** Marks letters as on their way to their sink; resolves to where each of these stands then. */
  async markReplaying(ids: readonly string[], when: MarkCondition): Promise<readonly SentLetter[]> {
    return await this.#mark(ids, { mark: "replaying", when });
  }

  /** Marks letters as stored, with which of the events that were sent of each is. */
  async markStored(letters: readonly SentLetter[]): Promise<void> {
    const sent = new Map(letters.map(({ id, sentAt }) => [id, sentAt]));
    await this.#mark([...sent.keys()], { mark: "stored", when: () => true, sent });
  }

  async #mark(ids: readonly string[], how: Omit<Marking, "time">): Promise<readonly SentLetter[]> {
    const marked: SentLetter[] = [];
    for await (const some of portionsOf(ids)) {
      const marking = { ...how, time: this.#parts.clock.now().toISOString() };
      const sharing = this.#sharing;
      marked.push(
        ...(sharing === undefined
          ? await this.#markOwn(some, marking)
          : await this.#shared.mark(some, marking, sharing)),
      );
    }
    return marked;
  }

  async #markOwn(ids: readonly string[], { mark, when, time }: Marking): Promise<readonly SentLetter[]> {
    const { run } = this.#parts;
    return await this.#changes.run(async () => {
      const index = await this.#read();
      const chosen = ids.filter((id) => when(index.entry(id)));
      await this.#add(owned(chosen.map((id) => ({ id, mark, time, run }))), index);
      return chosen.map((id) => ({ id, sentAt: undefined }));
    });
  }

  /**
   * Marks letters as stored of which another agent is done with the event, unless they have changed since it was sent; resolves to their
   * ids. Nothing is said of those that are known to have changed.
   */
  async storedUnlessChanged(letters: readonly SentLetter[]): Promise<readonly string[]> {
    const sharing = this.#sharing;
    return sharing === undefined ? [] : await this.#shared.storedUnlessChanged(letters, sharing);
  }

  /** Writes the file anew without the letters that are settled. Letters may be kept and marked meanwhile. */
  async compact(): Promise<void> {
    await this.#compaction.compact();
  }

  /** Drops the letters for which the condition holds, and removes them from the disk; resolves to how many. */
  async drop(ids: LetterIds, when: MarkCondition): Promise<number> {
    return await this.#dropping.drop(ids, when);
  }

  /** Removes letters that are too old, when the operator asked for it. */
  async removeOld(): Promise<void> {
    await this.#old.remove();
  }

  /** The index, when there is room; that of the present file when somebody removed it. */
  async #withRoom(letters: readonly LetterRecord[], index: LetterIndex): Promise<LetterIndex> {
    const { sink, limits, file } = this.#parts;
    const added = letters.reduce((sum, letter) => sum + Buffer.byteLength(lineOf(letter)), 0);
    const fits = ({ bytes }: LetterIndex) => limits.bytes === 0 || added === 0 || bytes + added <= limits.bytes;
    if (fits(index)) return index;
    if (!(await file.exists())) {
      this.#index = undefined;
      const empty = await this.#read();
      if (fits(empty)) return empty;
    }
    throw lettersFull({ sink, held: index.bytes, added, limit: limits.bytes });
  }

  async #add(records: readonly OwnedRecord[], index: LetterIndex): Promise<void> {
    if (records.length === 0) return;
    const { file } = this.#parts;
    try {
      await file.append(records.map(({ record }) => record));
    } catch (cause) {
      const message = `writing dead letters to "${file.path}"`;
      throw new AgentError("DEAD_LETTERS_UNWRITABLE", message, { cause, retryable: true });
    }
    for (const { record, own } of records) index.note(record, Buffer.byteLength(lineOf(record)), own);
    if (index.settledTexts > 0) this.#compaction.later();
  }

  async #read(): Promise<LetterIndex> {
    this.#index ??= new LetterIndex(await this.#parts.file.contents(this.#sharing));
    return this.#index;
  }
}

function owned(records: readonly LetterRecord[]): readonly OwnedRecord[] {
  return records.map((record) => ({ record, own: true }));
}

function isOpenEntry(entry: LetterEntry | undefined): boolean {
  return entry !== undefined && isOpen(entry);
}

/** A letter that was on its way failed again. */
function againOf(letter: DeadLetter, entry: LetterEntry | undefined): DeadLetter {
  return entry?.mark === "replaying" ? { ...letter, replays: entry.replays + 1 } : letter;
}
