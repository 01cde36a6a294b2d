import { randomUUID } from "node:crypto";
import { readdir } from "node:fs/promises";
import path from "node:path";
import { codeOf, type Logger, reasonOf } from "../../sdk/index.js";
import type { Clock } from "../../tokens.js";
import {
  type DeadLetter,
  isMark,
  type LetterMark,
  type OpenLetter,
  type SentLetter,
  type SharedPlace,
} from "./dead-letter.js";
import { DeadLetterFile } from "./file.js";
import type { LetterCounts } from "./letter-index.js";
import { isOpen, type LetterEntry, type MarkCondition } from "./letter-table.js";
import type { DeadLetterLimits } from "./limits.js";
import type { LetterIds } from "./portions.js";
import { type LetterPage, type LetterPlace, type SearchBounds, searchFile } from "./search.js";
import type { LetterSharing, PlacedChange } from "./shared-changes.js";
import { SinkLetters } from "./sink-letters.js";

export type { DeadLetter, DeadLetterReason, OpenLetter } from "./dead-letter.js";
export type { LetterCounts } from "./letter-index.js";
export type { LetterEntry } from "./letter-table.js";
export type { DeadLetterLimits } from "./limits.js";
export type { LetterPlace } from "./search.js";

interface DeadLetterOptions {
  readonly limits: DeadLetterLimits;
  readonly clock: Clock;
  readonly log: Logger;
  /** Milliseconds of a clock that nobody sets; that of the process when absent. */
  readonly uptime?: () => number;
}

interface LetterSearch extends SearchBounds {
  /** Of this sink; absent: of all. */
  readonly sink?: string | undefined;
  readonly after: LetterPlace | undefined;
}

const extension = ".ndjson";
const hourInMilliseconds = 3_600_000;

/** None for a file that no agent has written, such as a copy that somebody made there. */
function sinkOf(file: string): readonly string[] {
  if (!file.endsWith(extension)) return [];
  const name = file.slice(0, -extension.length);
  try {
    const sink = decodeURIComponent(name);
    return encodeURIComponent(sink) === name ? [sink] : [];
  } catch {
    return [];
  }
}

const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const usual: DeadLetterOptions = { limits: { days: 0, bytes: 0 }, clock: { now: () => new Date() }, log: quiet };

/**
 * Keeps what cannot be stored: one file of JSON lines for each sink, `<folder>/<sink>.ndjson`, synced before it counts.
 * Without options there are no limits. Only the agent writes; anybody may read at the same time.
 */
export class DeadLetters {
  readonly #folder: string;
  readonly #options: DeadLetterOptions;
  readonly #run = randomUUID();
  readonly #bySink = new Map<string, SinkLetters>();
  #timer: NodeJS.Timeout | undefined;
  #kept: (() => void) | undefined;

  constructor(folder: string, options: DeadLetterOptions = usual) {
    this.#folder = folder;
    this.#options = options;
  }

  /** Mends what a crash left and reads what is there; from now on what is too old is removed when that is asked for. */
  async start(): Promise<void> {
    for (const sink of await this.sinks()) await this.#lettersOf(sink).start();
    await this.removeOld();
    this.#timer ??= setInterval(() => void this.removeOld(), hourInMilliseconds).unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    await Promise.all([...this.#bySink.values()].map((letters) => letters.stop()));
  }

  fileOf(sink: string): string {
    return path.join(this.#folder, `${encodeURIComponent(sink)}${extension}`);
  }

  /** The sinks that have a file, by name. */
  async sinks(): Promise<readonly string[]> {
    const found = await readdir(this.#folder, { withFileTypes: true }).catch((error: unknown) => {
      if (codeOf(error) === "ENOENT") return [];
      throw error;
    });
    return found.flatMap((entry) => (entry.isDirectory() ? [] : sinkOf(entry.name))).toSorted();
  }

  /** What is kept, by sink, without reading files: of the sinks that had letters since the start. */
  counts(): readonly LetterCounts[] {
    return [...this.#bySink.values()].flatMap((letters) => letters.counts() ?? []);
  }

  /**
   * Keeps letters of one sink, on disk when it resolves. Throws a retryable error, and keeps none, when they are too many
   * (code DEAD_LETTERS_FULL) or cannot be written (DEAD_LETTERS_UNWRITABLE). The signal ends a wait for a log that agents share.
   */
  async keep(letters: readonly DeadLetter[], signal?: AbortSignal): Promise<void> {
    const [first] = letters;
    if (first === undefined) return;
    await this.#lettersOf(first.sink).keep(letters, signal);
    this.#kept?.();
  }

  /** From now on the letters of a sink are those of several agents; undefined: they are no longer. */
  async share(sink: string, sharing: LetterSharing | undefined): Promise<void> {
    await this.#lettersOf(sink).share(sharing);
  }

  /** Takes over what agents changed of the letters of a sink; resolves to which of it counts. */
  async apply(sink: string, changes: readonly PlacedChange[]): Promise<readonly boolean[]> {
    const counted = await this.#lettersOf(sink).apply(changes);
    this.#kept?.();
    return counted;
  }

  /** Closes the shared letters of a sink up to a place, of which no agent has one open. */
  async closeBefore(sink: string, place: SharedPlace): Promise<void> {
    await this.#lettersOf(sink).closeBefore(place);
  }

  /** The offset of the oldest open shared letter of a sink. */
  async oldestOffset(sink: string): Promise<number | undefined> {
    return (await this.#lettersOf(sink).index()).oldestOffset();
  }

  /** The listener is called after letters were kept; undefined ends that. */
  whenKept(listener: (() => void) | undefined): void {
    this.#kept = listener;
  }

  /** The letters that are neither stored nor dropped, oldest first; of all sinks when none is named. */
  async *open(sink?: string): AsyncGenerator<OpenLetter> {
    for (const name of sink === undefined ? await this.sinks() : [sink]) yield* this.#lettersOf(name).open();
  }

  async find(id: string): Promise<OpenLetter | undefined> {
    const sink = await this.holder(id);
    if (sink !== undefined) {
      const all = { limit: 1, bytes: Number.POSITIVE_INFINITY, holding: id };
      const { letters } = await this.#searched(sink, (letter) => letter.id === id, { ...all, after: undefined });
      return letters[0];
    }
    for await (const letter of this.open()) if (letter.id === id) return letter;
    return undefined;
  }

  /**
   * The open letters for which the condition holds: sink after sink by name, of each the last one first, from a place on. One
   * search goes no further than its bounds; then there is a next place, whether it found something or not.
   */
  async search(
    isChosen: (letter: OpenLetter) => boolean,
    { sink, after, limit, bytes, milliseconds = Number.POSITIVE_INFINITY }: LetterSearch,
  ): Promise<LetterPage> {
    const all = sink === undefined ? await this.sinks() : [sink];
    const letters: OpenLetter[] = [];
    const deadline = performance.now() + milliseconds;
    let left = bytes;
    for (const name of all) {
      if (after !== undefined && name < after.sink) continue;
      const from = after?.sink === name ? after : undefined;
      const bounds = { limit: limit - letters.length, bytes: left, milliseconds: deadline - performance.now() };
      const found = await this.#searched(name, isChosen, { ...bounds, after: from });
      for (const letter of found.letters) letters.push(letter);
      left -= found.bytes;
      if (found.next !== undefined) return { letters, next: found.next };
    }
    return { letters, next: undefined };
  }

  /** Every letter of a file that was ever written and not removed yet, settled ones and former versions included. */
  async *written(sink: string): AsyncGenerator<DeadLetter> {
    for await (const record of this.#file(sink).records()) if (!isMark(record)) yield record;
  }

  /** The id of every letter of all sinks that is on disk, stored ones that are remembered included. */
  async *ids(): AsyncGenerator<string> {
    for (const sink of await this.sinks()) {
      for await (const { id } of this.#file(sink).records()) yield id;
    }
  }

  /** What a letter stands at; undefined when nothing is known of it. */
  async entry(sink: string, id: string): Promise<LetterEntry | undefined> {
    return (await this.#lettersOf(sink).index()).entry(id);
  }

  /** The sink under which a letter is open; of several sinks at one channel any may get what is replayed. */
  async holder(id: string): Promise<string | undefined> {
    for (const [sink, letters] of this.#bySink) {
      const entry = (await letters.index()).entry(id);
      if (entry !== undefined && isOpen(entry)) return sink;
    }
    return undefined;
  }

  /** The letters of a sink that are stored and still remembered. */
  async stored(sink: string): Promise<readonly string[]> {
    const stored = new Set<string>();
    if (!(await this.#lettersOf(sink).index()).hasStored) return [];
    for await (const { id, isStored } of this.#file(sink).subjects()) {
      if (isStored) stored.add(id);
      else stored.delete(id);
    }
    return [...stored];
  }

  /** Marks the letters for which the condition holds at that moment; resolves to their ids. */
  async mark(
    sink: string,
    ids: readonly string[],
    mark: LetterMark["mark"],
    when?: MarkCondition,
  ): Promise<readonly string[]> {
    return ids.length === 0 ? [] : await this.#lettersOf(sink).mark(ids, mark, when);
  }

  /** The same for letters that are on their way to their sink; resolves to where each of these stands then. */
  async markReplaying(sink: string, ids: readonly string[], when: MarkCondition): Promise<readonly SentLetter[]> {
    return ids.length === 0 ? [] : await this.#lettersOf(sink).markReplaying(ids, when);
  }

  /** Marks letters as stored, with which of the events that were sent of each is. */
  async markStored(sink: string, letters: readonly SentLetter[]): Promise<void> {
    await this.#lettersOf(sink).markStored(letters);
  }

  /** Marks shared letters as stored that have not changed since they were sent; resolves to their ids. */
  async storedUnlessChanged(sink: string, letters: readonly SentLetter[]): Promise<readonly string[]> {
    return await this.#lettersOf(sink).storedUnlessChanged(letters);
  }

  /** Drops the letters for which the condition holds at that moment, and removes them from the disk; resolves to how many. */
  async drop(sink: string, ids: LetterIds, when: MarkCondition): Promise<number> {
    return await this.#lettersOf(sink).drop(ids, when);
  }

  /** Removes the text of settled letters from the disk, now instead of within seconds. */
  async compact(sink: string): Promise<void> {
    await this.#lettersOf(sink).compact();
  }

  /** One look at the age of letters; called every hour. */
  async removeOld(): Promise<void> {
    for (const [sink, letters] of this.#bySink) {
      try {
        await letters.removeOld();
      } catch (error) {
        this.#options.log.error({ sink, reason: reasonOf(error) }, "old dead letters could not be removed");
      }
    }
  }

  async #searched(name: string, isChosen: (letter: OpenLetter) => boolean, bounds: Omit<LetterSearch, "sink">) {
    const index = await this.#lettersOf(name).index();
    return await searchFile({ sink: name, path: this.fileOf(name), index }, isChosen, bounds);
  }

  #file(sink: string): DeadLetterFile {
    return new DeadLetterFile(this.fileOf(sink));
  }

  #lettersOf(sink: string): SinkLetters {
    const { uptime = () => performance.now(), ...options } = this.#options;
    const known = this.#bySink.get(sink);
    const letters = known ?? new SinkLetters({ ...options, sink, file: this.#file(sink), run: this.#run, uptime });
    if (known === undefined) this.#bySink.set(sink, letters);
    return letters;
  }
}
