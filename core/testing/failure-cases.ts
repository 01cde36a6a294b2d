import assert from "node:assert/strict";
import { eventsOf } from "../sdk/errors.js";
import { type Event, retryableOf } from "../sdk/index.js";
import { assertStored, failure, rejectsAs } from "./expectations.js";
import { marked, never, type SinkBench, type SinkCase } from "./sink-cases.js";

/** What a sink does when data will never go in: it refuses the whole batch, and takes the good events by themselves. */
export const poisonCases: readonly SinkCase[] = (
  [
    { where: "first", marks: ["bad", "a", "b"] },
    { where: "in the middle", marks: ["a", "bad", "b"] },
    { where: "last", marks: ["a", "b", "bad"] },
    { where: "alone", marks: ["bad"] },
  ] as const
).map(({ where, marks }) => ({
  name: `an event that will never go in, ${where}, fails the batch for good and leaves nothing of it behind, or is named`,
  async run({ store, start }) {
    const sink = await start();
    const events = marks.map((mark) =>
      mark === "bad" ? (store.poisoned?.(marked(mark)) ?? marked(mark)) : marked(mark),
    );

    const error = await sink.persist({ events }, never).then(
      () => {
        throw failure("persist must fail with retryable false; it did not fail");
      },
      (cause: unknown) => cause,
    );
    const failed = namedIn(error, events);
    if (failed.some(([, says]) => says !== false)) {
      throw failure("persist must fail with retryable false for every event that is not stored", error);
    }
    const isFailed = new Set(failed.map(([event]) => event));
    assertStored(
      await store.readBack(),
      marks.filter((_, index) => !isFailed.has(events[index])),
    );
    for (const [index, event] of events.entries()) {
      if (marks[index] !== "bad" && isFailed.has(event)) await sink.persist({ events: [event] }, never);
    }

    assertStored(
      await store.readBack(),
      marks.filter((mark) => mark !== "bad"),
    );
  },
}));

/** The events that failed and whether each may pass; all of them for an error that names none. */
function namedIn(error: unknown, events: readonly Event[]): readonly (readonly [unknown, boolean | undefined])[] {
  const named = eventsOf(error);
  const says = retryableOf(error);
  if (named instanceof Map) return [...named].map(([event, own]) => [event, retryableOf(own) ?? says]);
  const list: readonly unknown[] = Array.isArray(named) ? named : events;
  return list.map((event) => [event, says]);
}

/** What a sink does when the store is not available at its start. */
export const unreachableCases: readonly SinkCase[] = [
  {
    name: "a sink starts while its store is not available, and a write fails retryably",
    async run({ store, start }) {
      const sink = await start({ ...store.config, ...store.unreachable });

      await rejectsAs(sink.persist({ events: [marked("a")] }, never), "persist", { retryable: true });
    },
  },
  {
    name: "of a store that is not available a sink does not say that it takes other events",
    async run({ store, start }) {
      const sink = await start({ ...store.config, ...store.unreachable });
      const error = await sink.persist({ events: [marked("a")] }, never).catch((thrown: unknown) => thrown);

      const answer = await sink.answers?.(error, never).catch(() => false);

      if (answer === undefined || answer === false) return;
      throw failure(`answers says ${JSON.stringify(answer)}: then what comes in an outage becomes dead letters`, error);
    },
  },
];

const MOST_TRIES = 5;

/** What a sink does when the store goes away between two writes. */
export const interruptCases: readonly SinkCase[] = [
  {
    name: "after its connections were ended, the same batch goes in within a few tries",
    async run({ store, start }) {
      const sink = await start();
      await sink.persist({ events: [marked("a1")] }, never);
      await store.interrupt?.();

      await untilStored(sink, marked("a2"));

      const stored = await store.readBack();
      assert.deepEqual([...new Set(stored)], ["a1", "a2"]);
    },
  },
];

/** Stores the event within a few tries. */
export async function untilStored(sink: Awaited<ReturnType<SinkBench["start"]>>, event: ReturnType<typeof marked>) {
  for (let attempt = 1; ; attempt++) {
    try {
      await sink.persist({ events: [event] }, never);
      return;
    } catch (error) {
      if (retryableOf(error) === false) throw failure("a lost connection is no bad data: it is retryable", error);
      if (attempt === MOST_TRIES) throw error;
    }
  }
}
