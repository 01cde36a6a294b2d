import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { setImmediate, setTimeout } from "node:timers/promises";
import { type Batch, type Event, letterHeader, retryableOf, type Sink } from "../sdk/index.js";
import { assertStored, failure, rejectsAs } from "./expectations.js";
import { marked, never, type SinkCase } from "./sink-cases.js";

const MOST_TRIES = 200;
const PAUSE_MILLIS = 10;

/** What a sink with positions does, behind a durable channel. */
export const positionCases: readonly SinkCase[] = [
  {
    name: "of two agents that keep the position of one channel with their data the later one stores nothing",
    async run({ store, start }) {
      const [first, second] = [await start(store.config, "first"), await start(store.config, "second")];
      const channel = newChannel();
      const batch = (mark: string, number: number) => batchAt(channel, number, [marked(mark)]);
      await first.persist(batch("a1", 1), never);
      const stored = (await second.positions?.stored?.(never)) ?? [];
      await first.persist(batch("a2", 2), never);

      await rejectsAs(second.persist(batch("b1", 3), never), "persist of the later one", { code: "POSITION_CONFLICT" });
      await first.persist(batch("a3", 3), never);

      assert.ok(stored.includes(`${channel}:1`));
      assertStored(await store.readBack(), ["a1", "a2", "a3"]);
    },
  },
  {
    name: "a sink whose position was moved by the one that replaced it stores what is left, each event once",
    async run({ store, start }) {
      const [first, second] = [await start(store.config, "one"), await start(store.config, "one")];
      const channel = newChannel();
      const [a2, a3] = [marked("a2"), marked("a3")];
      await first.persist(batchAt(channel, 1, [marked("a1")]), never);
      await second.persist(batchAt(channel, 2, [a2]), never);

      const late = { text: `${channel}:3`, coveredBy: (stored: string) => (stored === `${channel}:2` ? [a2] : []) };
      await untilPersisted(first, { events: [a2, a3], position: late });

      assertStored(await store.readBack(), ["a1", "a2", "a3"]);
    },
  },
  {
    name: "the positions of several channels are kept beside each other",
    async run({ store, start }) {
      const [one, other] = [newChannel(), newChannel()];
      const sink = await start();
      await sink.persist(batchAt(one, 1, [marked("a1")]), never);
      await sink.persist(batchAt(other, 1, [marked("b1", 2)]), never);
      await sink.persist(batchAt(one, 2, [marked("a2")]), never);
      await sink.stop(never);

      const next = await start();
      const stored = (await next.positions?.stored?.(never)) ?? [];
      await next.persist(batchAt(other, 2, [marked("b2", 2)]), never);

      const wanted = [`${one}:2`, `${other}:1`];
      if (!wanted.every((text) => stored.includes(text)))
        throw failure(
          `the positions ${wanted.join(" and ")} were kept; positions.stored tells ${stored.join(" and ")}`,
        );
      assertStored(await store.readBack(), ["a1", "a2", "b1", "b2"], "in any order");
    },
  },
  {
    name: "a batch whose write is aborted at any moment is stored once when it is written again, its position with it",
    async run({ store, start }) {
      const sink = await start(store.config, "one");
      const channel = newChannel();
      const marks = MOMENTS.map((moment) => `m${moment}`);

      for (const [at, mark] of marks.entries()) {
        const batch = coveredBatch(channel, at + 1, [marked(mark), marked(`${mark}b`, 2)]);
        const abort = new AbortController();
        const writing = sink.persist(batch, abort.signal).then(
          () => true,
          () => false,
        );
        for (let turns = 0; turns < (MOMENTS[at] ?? 0); turns += 1) await setImmediate();
        abort.abort();
        if (!(await writing)) await untilPersisted(sink, batch);
      }

      assertStored(await store.readBack(), [...marks, ...marks.map((mark) => `${mark}b`)], "in any order");
    },
  },
  {
    name: "a dead letter that is replayed, and comes once more under another position, is stored once",
    async run({ store, start }) {
      const sink = await start();
      const channel = newChannel();
      const { headers, body } = marked("a1");
      const letter = { headers: { ...headers, [letterHeader]: randomUUID() }, body };

      await sink.persist(batchAt(channel, 1, [letter]), never);
      await sink.persist(batchAt(channel, 2, [letter, marked("a2")]), never);
      await (await start()).persist(batchAt(channel, 3, [letter, marked("a3")]), never);

      assertStored(await store.readBack(), ["a1", "a2", "a3"]);
    },
  },
  {
    name: "two sinks that write the same batch at the same time store it once",
    async run({ store, start }) {
      const sinks = [await start(store.config, "one"), await start(store.config, "one")];
      const channel = newChannel();
      const batches = ["a", "b", "c"].map((mark, at) => coveredBatch(channel, at + 1, [marked(mark)]));

      for (const batch of batches) await Promise.all(sinks.map((sink) => untilPersisted(sink, batch)));

      assertStored(await store.readBack(), ["a", "b", "c"]);
    },
  },
];

/** After how many turns a write is aborted: each time at another step of it. */
const MOMENTS = [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 13, 20, 40, 80, 160, 320];

/** The name of a channel that no store knows. */
function newChannel(): string {
  return randomBytes(8).toString("hex");
}

function batchAt(channel: string, number: number, events: readonly Event[]): Batch {
  return { events, position: { text: `${channel}:${number}`, coveredBy: () => [] } };
}

/** One whose channel knows, by a position that is stored, whether its events are. */
function coveredBatch(channel: string, number: number, events: readonly Event[]): Batch {
  const covers = (text: string) => text.startsWith(`${channel}:`) && Number(text.slice(channel.length + 1)) >= number;
  return { events, position: { text: `${channel}:${number}`, coveredBy: (text) => (covers(text) ? events : []) } };
}

/** Writes a batch again, as the agent does. */
async function untilPersisted(sink: Sink, batch: Batch): Promise<void> {
  for (let tries = 1; ; tries += 1)
    try {
      await sink.persist(batch, never);
      return;
    } catch (error) {
      if (retryableOf(error) === false || tries === MOST_TRIES) throw error;
      // The store may be taken by another write, as a file of SQLite is.
      await setTimeout(PAUSE_MILLIS);
    }
}
