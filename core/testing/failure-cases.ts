import assert from "node:assert/strict";
import { retryableOf } from "../sdk/index.js";
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
  name: `an event that will never go in, ${where}, fails the batch for good and leaves nothing of it behind`,
  async run({ store, start }) {
    const sink = await start();
    const events = marks.map((mark) =>
      mark === "bad" ? (store.poisoned?.(marked(mark)) ?? marked(mark)) : marked(mark),
    );

    await assert.rejects(sink.persist({ events }, never), (error) => retryableOf(error) === false);
    assert.deepEqual(await store.readBack(), []);
    for (const [index, event] of events.entries()) {
      if (marks[index] !== "bad") await sink.persist({ events: [event] }, never);
    }

    assert.deepEqual(
      await store.readBack(),
      marks.filter((mark) => mark !== "bad"),
    );
  },
}));

/** What a sink does when the store is not available at its start. */
export const unreachableCases: readonly SinkCase[] = [
  {
    name: "a sink starts while its store is not available, and a write fails retryably",
    async run({ store, start }) {
      const sink = await start({ ...store.config, ...store.unreachable });

      await assert.rejects(sink.persist({ events: [marked("a")] }, never), (error) => retryableOf(error) === true);
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

async function untilStored(sink: Awaited<ReturnType<SinkBench["start"]>>, event: ReturnType<typeof marked>) {
  for (let attempt = 1; ; attempt++) {
    try {
      await sink.persist({ events: [event] }, never);
      return;
    } catch (error) {
      assert.notEqual(retryableOf(error), false, "a lost connection is no bad data");
      if (attempt === MOST_TRIES) throw error;
    }
  }
}
