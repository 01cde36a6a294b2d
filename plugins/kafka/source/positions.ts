import { setMaxListeners } from "node:events";
import { onAbort } from "deneb/sdk";
import { type ReadPosition, readCommonEnds } from "../client/common-ends.js";
import type { Place } from "../client/directory.js";
import { type KafkaError, kafkaErrorOf } from "../client/kafka-error.js";
import { type BeginningParts, beginningsAt } from "./beginnings.js";
import { cutBehind } from "./mark.js";
import type { OffsetBook } from "./offset-book.js";
import type { Beginning } from "./reached.js";

/** How often partitions that nobody leads, or whose leader did not answer, are looked at. */
export const LOOK_MILLIS = 1000;
/** How long reading waits for leaders, which mostly answer at once. */
const MOMENT_MILLIS = 100;

interface PositionParts extends BeginningParts {
  readonly book: OffsetBook;
}

/**
 * Where the partitions of a membership are read on. The leader of a partition is asked before it is read, and again when another one
 * leads it, beside the reading of the others: one that is silent, and none, hold up their own partitions only.
 */
export class Positions {
  readonly #places: readonly Place[];
  readonly #parts: PositionParts;
  readonly #signal: AbortSignal;
  readonly #next = new Map<string, Beginning>();
  readonly #asking = new Map<string, Promise<void>>();
  readonly #putting = new Map<string, Promise<void>>();
  readonly #failed = new Map<string, { readonly at: number; readonly error: KafkaError }>();
  #looking: Promise<void> | undefined;
  #lookedAt = performance.now();
  /** What cannot pass by itself. */
  #failure: unknown;

  constructor(places: readonly Place[], parts: PositionParts, signal: AbortSignal) {
    this.#places = places;
    this.#parts = parts;
    this.#signal = signal;
    // Each partition that is asked for alone listens.
    setMaxListeners(0, signal);
  }

  at(place: Place): Beginning | undefined {
    return this.#next.get(keyOf(place));
  }

  /** Everything before this position is in the channels, or was refused. */
  done(position: Beginning): void {
    const { directory, book, reached } = this.#parts;
    this.#next.set(keyOf(position), position);
    reached.note(directory.topic(position.topic).id, position);
    book.done(position);
  }

  /** What was read of a partition is being put: nothing else is done with it meanwhile. Resolves when the work is over. */
  putting(place: Place, work: Promise<void>): Promise<void> {
    const key = keyOf(place);
    const over = work
      .catch((error: unknown) => {
        this.#failure ??= error;
      })
      .finally(() => this.#putting.delete(key));
    this.#putting.set(key, over);
    return over;
  }

  isPut(place: Place): boolean {
    return this.#putting.has(keyOf(place));
  }

  /** Those whose leader has said up to where it has what was read of them, and of which nothing is being put. */
  readable(): readonly Beginning[] {
    return [...this.#next.values()].filter((at) => this.#isLed(at));
  }

  isReadable(place: Place): boolean {
    const at = this.at(place);
    return at !== undefined && this.#isLed(at);
  }

  /** Why a partition cannot be read: its leader does not answer. */
  failureOf(place: Place): KafkaError | undefined {
    return this.#failed.get(keyOf(place))?.error;
  }

  /** Asks the leaders of partitions that cannot be read, and waits a moment for their answers. Rejects with what cannot pass by itself. */
  async lead(): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.readable().length === this.#places.length) return;
    this.#look();
    const due = this.#places.filter((place) => !this.isReadable(place) && this.#isDue(place));
    const fresh = due.filter((place) => this.at(place) === undefined);
    for (const [node, places] of this.#leaders(fresh)) this.#ask(places, this.#begin(node, places));
    const known = due.flatMap((place) => this.at(place) ?? []);
    for (const [node, places] of this.#leaders(known)) this.#ask(places, this.#compare(node, places));
    if (due.length > 0)
      await this.#within(MOMENT_MILLIS, Promise.all(due.map((place) => this.#asking.get(keyOf(place)))));
    if (this.readable().length === 0) await this.#within(LOOK_MILLIS, Promise.race(this.#work));
  }

  /** Resolves when nobody is asked and nothing put any more; the signal has ended it. */
  async end(): Promise<void> {
    await Promise.all(this.#work);
  }

  get #work(): readonly Promise<void>[] {
    return [...this.#asking.values(), ...this.#putting.values()];
  }

  #isLed(at: Beginning): boolean {
    return !this.#isBusy(keyOf(at)) && at.epoch === this.#parts.directory.epoch(at);
  }

  #isBusy(key: string): boolean {
    return this.#asking.has(key) || this.#putting.has(key);
  }

  #isDue(place: Place): boolean {
    const key = keyOf(place);
    const failed = this.#failed.get(key)?.at ?? Number.NEGATIVE_INFINITY;
    return !this.#isBusy(key) && performance.now() - failed >= LOOK_MILLIS;
  }

  /** What one partition lacks must not hold up the others of its leader: after a failure each is asked for alone. */
  #leaders<P extends Place>(places: readonly P[]): readonly (readonly [node: number, places: readonly P[]])[] {
    return [...this.#parts.directory.byLeader(places)].flatMap(([node, led]) => {
      const hasFailed = led.some((place) => this.failureOf(place) !== undefined);
      return hasFailed ? led.map((place) => [node, [place]] as const) : [[node, led] as const];
    });
  }

  #ask(places: readonly Place[], work: Promise<void>): void {
    const asking = work.then(
      () => this.#answered(places),
      (error: unknown) => this.#refused(places, kafkaErrorOf(error, "reading")),
    );
    for (const place of places) this.#asking.set(keyOf(place), asking);
  }

  async #begin(node: number, places: readonly Place[]): Promise<void> {
    const begun = await beginningsAt({ node, places, signal: this.#signal }, this.#parts);
    // Also where nothing comes to be read the group goes on from there.
    if (!this.#signal.aborted) for (const position of begun) this.done(position);
  }

  async #compare(node: number, positions: readonly Beginning[]): Promise<void> {
    const read = positions.map((at) => this.#farthest(at));
    const ends = await readCommonEnds(this.#parts, { node, group: read, signal: this.#signal });
    if (!this.#signal.aborted) ends.forEach((end, index) => this.#led(read[index] ?? end, end));
  }

  /** Another leader may lack records that were read. */
  #led(read: ReadPosition, end: ReadPosition): void {
    const at = this.at(end);
    if (at === undefined) return;
    const isCut = end.offset < read.offset;
    if (isCut) this.#parts.losses.truncated(at, read.offset, end.offset);
    const cuts = isCut ? cutBehind(at, read.epoch) : at.cuts;
    this.done({ ...at, offset: Math.min(at.offset, end.offset), epoch: end.epoch, cuts });
  }

  #farthest(at: Beginning): ReadPosition {
    const { directory, reached } = this.#parts;
    const own = reached.of(directory.topic(at.topic).id, at);
    return own !== undefined && own.offset > at.offset ? own : at;
  }

  #answered(places: readonly Place[]): void {
    for (const place of places) {
      this.#asking.delete(keyOf(place));
      this.#failed.delete(keyOf(place));
    }
  }

  #refused(places: readonly Place[], error: KafkaError): void {
    if (!passes(error)) this.#failure = error;
    // Another one may lead them, before they are due again.
    this.#lookedAt = Number.NEGATIVE_INFINITY;
    for (const place of places) {
      this.#asking.delete(keyOf(place));
      this.#failed.set(keyOf(place), { at: performance.now(), error });
    }
  }

  /** Where the leaders are now. */
  #look(): void {
    if (this.#looking !== undefined || performance.now() - this.#lookedAt < LOOK_MILLIS) return;
    this.#looking = this.#parts.directory
      .refresh()
      .catch((error: unknown) => {
        const failure = kafkaErrorOf(error, "reading the metadata");
        if (!passes(failure)) this.#failure = failure;
      })
      .finally(() => {
        this.#looking = undefined;
        this.#lookedAt = performance.now();
      });
  }

  async #within(millis: number, work: Promise<unknown>): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    let stopListening = () => {};
    const over = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, millis);
      stopListening = onAbort(this.#signal, resolve);
    });
    await Promise.race([work, over]);
    clearTimeout(timer);
    stopListening();
  }
}

function passes({ kind }: KafkaError): boolean {
  return kind === "unavailable" || kind === "full";
}

function keyOf({ topic, partition }: Place): string {
  return `${topic}:${partition}`;
}
