import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { atBeginning, type LogPosition } from "../../core/log/log-position.js";
import type { Book } from "../../core/log/part-books.js";
import { PartQueue } from "../../core/log/part-queue.js";
import type { QueuedPartEvent, ReadRecord } from "../../core/log/read-edge.js";
import { type ModelEvent, ORIGIN, PartQueueModel } from "./part-queue-model.js";

const RUNS = Number(process.env["DENEB_TEST_HISTORIES"] ?? 20) * 5;

/** A record of the log; `isGone`: it is removed before this agent reads it. */
interface Appended {
  readonly offset: number;
  readonly isGone: boolean;
  readonly events: readonly ModelEvent[];
}

const one = fc.nat({ max: 1000 });
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("read" as const), records: fc.integer({ min: 1, max: 6 }) }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("take" as const), events: fc.integer({ min: 1, max: 9 }) }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("leave" as const), take: one, but: one }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("restore" as const), take: one }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("release" as const), take: one }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("skip" as const, "note" as const), to: one }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("leave out" as const, "go back" as const), to: one }) },
);
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

const book = fc.constantFrom<Book>("stored", "stored", "stored", "stored", "deadLettered", "filtered");
const log = fc.array(
  fc.record({
    isGone: fc.nat({ max: 30 }).map((value) => value === 7),
    events: fc.array(fc.record({ book, origin: fc.option(fc.nat({ max: 3 }), { freq: 8 }) }), {
      minLength: 1,
      maxLength: 4,
    }),
  }),
  { minLength: 30, maxLength: 60 },
);
const knownBefore = fc.nat({ max: 12 });

/** What others say once all is done up to an event of the log. */
function positionsOf(records: readonly Appended[]): readonly LogPosition[] {
  let position: LogPosition = atBeginning;
  let last = -1;
  return records.flatMap(({ offset, events }) =>
    events.map(({ index, book: own, origin }) => {
      const isRepeated = origin !== undefined && origin <= last;
      if (origin !== undefined && !isRepeated) last = origin;
      const more = isRepeated ? 0 : 1;
      const origins = last < 0 ? position.origins : new Map([[ORIGIN, { offset: last, index: 0 }]]);
      position = { ...position, offset, index, events: position.events + more, origins, [own]: position[own] + more };
      return position;
    }),
  );
}

/** A queue and its model, with the same log. */
class Both {
  readonly #records: readonly Appended[];
  readonly #positions: readonly LogPosition[];
  readonly #books = new Map<string, Book>();
  readonly #known: number;
  readonly #queue: PartQueue;
  readonly #model: PartQueueModel;
  readonly #takes: (readonly QueuedPartEvent[])[] = [];

  constructor(records: readonly Appended[], known: number) {
    this.#records = records;
    this.#known = known;
    this.#positions = positionsOf(records);
    for (const { events } of records) for (const event of events) this.#books.set(keyOf(event), event.book);
    const [from = assert.fail()] = this.#positions;
    this.#queue = new PartQueue(0, from, 0, true);
    this.#model = new PartQueueModel(from);
  }

  step(one: Step): void {
    if (one.do === "read") this.#read(one.records);
    else if (one.do === "take") this.#take(one.events);
    else if (one.do === "leave") this.#leave(one);
    else if (one.do === "restore") this.#restore(one.take);
    else if (one.do === "release") this.#release(one.take);
    else this.#hear(one);
    this.compare();
  }

  compare(): void {
    const { done, next, size, waiting } = this.#queue;
    assert.deepEqual({ done, next, size, waiting }, { ...figuresOf(this.#model), waiting: this.#model.waiting.length });
  }

  /** Everything is read, and done in the order of the log. */
  end(): void {
    for (const taken of this.#takes.splice(0)) {
      this.#queue.restore(taken);
      this.#model.restore(taken.map(keyOf));
    }
    this.#read(this.#records.length);
    for (;;) {
      this.#take(7);
      if (this.#takes.length === 0) break;
      this.#release(0);
      this.compare();
    }
    assert.deepEqual([this.#queue.bytes, this.#queue.size], [0, 0]);
  }

  #read(count: number): void {
    const from = this.#queue.next;
    const records = this.#records.filter(({ offset, isGone }) => offset >= from && !isGone).slice(0, count);
    const read = records.map(recordOf);
    const bookBefore = (place: string) => this.#knownOf(place);
    this.#queue.add(
      { from, records: read },
      {
        hasLetter: (place) => bookBefore(keyOf(place)) === "deadLettered",
        isOfOthers: ({ body }) => bookBefore(String(body)) === "filtered",
      },
    );
    for (const record of read) this.#model.read(record, bookBefore);
  }

  /** Some letters are known before their event is read. */
  #knownOf(place: string): Book | undefined {
    const own = this.#books.get(place);
    return own === "stored" || Number(place.split("+")[0]) % 12 !== this.#known ? undefined : own;
  }

  #take(max: number): void {
    const taken = this.#queue.take(max);
    assert.deepEqual(taken.map(keyOf), this.#model.take(max));
    if (taken.length > 0) this.#takes.push(taken);
  }

  /** Every event of the take passes but one, which is given back. */
  #leave({ take, but }: { readonly take: number; readonly but: number }): void {
    const taken = this.#taken(take);
    const held = taken[but % Math.max(1, taken.length)];
    const outcomeOf = (place: string) => this.#books.get(place) ?? assert.fail();
    const passed = taken.filter((event) => event !== held);
    this.#compareAfter(taken);
    for (const outcome of ["stored", "deadLettered", "filtered"] as const) {
      const own = passed.filter((event) => outcomeOf(keyOf(event)) === outcome);
      this.#queue.leave(own, outcome === "stored" && but % 2 === 0 ? "elsewhere" : outcome);
      this.#model.finish(
        own.map(keyOf),
        own.map(() => outcome),
      );
    }
    const rest = held === undefined ? [] : [held];
    this.#queue.restore(rest);
    this.#model.restore(rest.map(keyOf));
  }

  #restore(take: number): void {
    const taken = this.#taken(take);
    this.#queue.restore(taken);
    this.#model.restore(taken.map(keyOf));
  }

  #release(take: number): void {
    const taken = this.#taken(take);
    this.#compareAfter(taken);
    const books = taken.map((event) => this.#books.get(keyOf(event)) ?? assert.fail());
    const count = (own: Book) => books.filter((other) => other === own).length;
    const settled = { deadLettered: count("deadLettered"), filtered: count("filtered"), stored: count("stored") };
    this.#queue.release(taken, { ...settled, elsewhere: 0 });
    // Nobody says which of them it was.
    const order = (["deadLettered", "filtered", "stored"] as const).flatMap((own) =>
      books.filter((other) => other === own),
    );
    this.#model.finish(taken.map(keyOf), order);
  }

  #compareAfter(taken: readonly QueuedPartEvent[]): void {
    const bookOf = (place: string) => this.#books.get(place) ?? assert.fail();
    for (const some of [taken, taken.slice(0, 1)]) {
      const after = this.#queue.after(some, ({ body }) => bookOf(String(body)));
      assert.deepEqual(after, this.#model.after(some.map(keyOf), bookOf));
    }
  }

  #hear({ do: what, to }: { readonly do: "skip" | "note" | "leave out" | "go back"; readonly to: number }): void {
    const position = this.#positions[to % this.#positions.length] ?? assert.fail();
    if (what === "skip") {
      this.#queue.skipTo(position);
      this.#model.skipTo(position);
    } else if (what === "note") {
      this.#queue.noteStored(position);
      this.#model.noteStored(position);
    } else if (what === "leave out") {
      this.#queue.leaveOut(position);
      this.#model.leaveOut(keyOf(position));
    } else if (position.offset > this.#queue.done.offset && position.offset < this.#queue.next)
      assert.equal(this.#queue.goBackTo(position.offset), this.#model.goBackTo(position.offset));
  }

  #taken(take: number): readonly QueuedPartEvent[] {
    return this.#takes.splice(take % Math.max(1, this.#takes.length), 1)[0] ?? [];
  }
}

function figuresOf({ done, next, size }: PartQueueModel) {
  return { done, next, size };
}

function keyOf({ offset, index }: Pick<QueuedPartEvent, "offset" | "index">): string {
  return `${offset}+${index}`;
}

function recordOf({ offset, events }: Appended): ReadRecord {
  const read = events.map((event) => ({
    event: { headers: {}, body: keyOf(event) },
    origin: event.origin === undefined ? undefined : { of: ORIGIN, offset: event.origin, index: 0 },
  }));
  return { offset, events: read, bytes: 10, at: offset, writer: `w${offset}`, before: 0 };
}

const histories = fc.record({
  records: log.map((records) => {
    let origin = 0;
    return records.map(({ isGone, events }, offset): Appended => {
      // What is gone came from no other log: what this agent has not seen it cannot know to be repeated.
      const isRemoved = isGone && offset > 0;
      const placed = events.map(({ book: own, origin: step }, index): ModelEvent => {
        if (step === null || isRemoved) return { offset, index, book: own };
        origin = Math.max(0, origin + step - 1);
        return { offset, index, book: own, origin };
      });
      return { offset, isGone: isRemoved, events: placed };
    });
  }),
  known: knownBefore,
  steps: fc.array(step, { minLength: 20, maxLength: 80, size: "max" }),
});

test("whatever takes, letters and positions of others do, a part is where it would be with an entry for each event", () => {
  fc.assert(
    fc.property(histories, ({ records, known, steps }) => {
      const both = new Both(records, known);
      for (const one of steps) both.step(one);
      both.end();
    }),
    { seed: Number(process.env["DENEB_TEST_SEED"] ?? 1), numRuns: RUNS },
  );
});
