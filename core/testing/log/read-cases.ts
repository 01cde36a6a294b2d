import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { LogPart } from "../../log/index.js";
import {
  at,
  bytes,
  LONG_WAIT,
  type LogCase,
  MEGABYTE,
  nameOfLog,
  never,
  opened,
  readAll,
  recordsOf,
  texts,
} from "./log-case.js";

/** Reads wait, are woken, aborted and bounded. */
export const readCases: readonly LogCase[] = [
  {
    name: "a read begins at the given offset, or at the next record after it",
    run: (engine) =>
      opened(engine, 1, async ({ log }) => {
        const offsets: number[] = [];
        for (const text of ["a", "b", "c"]) offsets.push((await log.append(0, bytes(text))).offset);

        for (const [index, wanted] of [["a", "b", "c"], ["b", "c"], ["c"]].entries()) {
          assert.deepEqual(texts(await readAll(log, 0, { count: wanted.length, from: at(offsets, index) })), wanted);
        }
        assert.deepEqual(texts(await readAll(log, 0, { count: 1, from: at(offsets, 1) + 1 })), ["c"]);
      }),
  },
  {
    name: "reads may jump back to records that were read before",
    run: (engine) =>
      opened(engine, 1, async ({ log }) => {
        for (const text of ["a", "b", "c"]) await log.append(0, bytes(text));
        await readAll(log, 0, { count: 3 });

        assert.deepEqual(texts(await readAll(log, 0, { count: 3 })), ["a", "b", "c"]);
      }),
  },
  {
    name: "a read keeps to its bytes and leaves the rest to the next one",
    run: (engine) =>
      opened(engine, 1, async ({ log }) => {
        const value = randomBytes(100_000);
        for (let count = 0; count < 8; count += 1) await log.append(0, value);

        const read = await log.read(new Map([[0, 0]]), { bytes: 250_000, waitMillis: LONG_WAIT }, never());

        const records = read.get(0) ?? [];
        assert.ok(records.length >= 1 && records.length <= 3, `${records.length} records`);
        assert.equal((await readAll(log, 0, { count: 8, from: 0, size: 250_000 })).length, 8);
      }),
  },
  {
    name: "a read gives records of the parts that it was asked for and of no other",
    run: (engine) =>
      opened(engine, 2, async ({ log }) => {
        const parts: readonly LogPart[] = [0, 1, "agents", "letters"];
        for (const part of parts) await log.append(part, bytes("one"));

        for (const part of parts) {
          const read = await log.read(new Map([[part, 0]]), { bytes: MEGABYTE, waitMillis: LONG_WAIT }, never());
          assert.deepEqual([...read.keys()], [part]);
        }
      }),
  },
  {
    name: "a part of a thousand records is read from its first to its last one",
    run: (engine) =>
      opened(engine, 1, async ({ log }) => {
        const appended = Array.from({ length: 1000 }, (_, at) => `record ${at}`);
        for (const text of appended) await log.append(0, bytes(text));

        assert.deepEqual(texts(await readAll(log, 0, { count: appended.length })), appended);
      }),
  },
  {
    name: "the bytes of a read are those of all its parts together",
    run: (engine) =>
      opened(engine, 8, async ({ log }) => {
        const parts = Array.from({ length: 8 }, (_, part) => part);
        for (const part of parts) await log.append(part, randomBytes(100_000));

        const from = new Map(parts.map((part) => [part, 0] as const));
        const read = await log.read(from, { bytes: 250_000, waitMillis: LONG_WAIT }, never());

        assert.ok(recordsOf(read) >= 1 && recordsOf(read) <= 3, `${recordsOf(read)} records of 100,000 bytes`);
      }),
  },
  {
    name: "a read that finds nothing returns empty after its wait",
    run: (engine) =>
      opened(engine, 2, async ({ log }) => {
        const from = new Map([
          [0, 0],
          [1, 0],
        ]);
        const read = await log.read(from, { bytes: MEGABYTE, waitMillis: 50 }, never());
        assert.equal(recordsOf(read), 0);
      }),
  },
  {
    name: "a waiting read is woken by a record of one of its parts",
    run: (engine) =>
      opened(engine, 4, async ({ log }) => {
        const from = new Map([0, 1, 2, 3].map((part) => [part, 0] as const));
        const reading = log.read(from, { bytes: MEGABYTE, waitMillis: LONG_WAIT }, never());
        await log.append(2, bytes("news"));

        assert.deepEqual(texts((await reading).get(2) ?? []), ["news"]);
      }),
  },
  {
    name: "a waiting read blocks neither appends nor a read of the other parts",
    run: (engine) =>
      opened(engine, 2, async ({ log }) => {
        const waiting = log.read(new Map([[0, 0]]), { bytes: MEGABYTE, waitMillis: LONG_WAIT }, never());

        await log.append(1, bytes("event"));
        await log.append("agents", bytes("hello"));
        assert.deepEqual(texts(await readAll(log, "agents", { count: 1 })), ["hello"]);

        await log.append(0, bytes("late"));
        assert.deepEqual(texts((await waiting).get(0) ?? []), ["late"], "what the read that waited has found");
      }),
  },
  {
    name: "an aborted read returns empty, and the next one works",
    run: (engine) =>
      opened(engine, 1, async ({ log }) => {
        const cancel = new AbortController();
        const waiting = log.read(new Map([[0, 0]]), { bytes: MEGABYTE, waitMillis: LONG_WAIT }, cancel.signal);
        cancel.abort();
        assert.equal(recordsOf(await waiting), 0);
        const aborted = await log.read(new Map([[0, 0]]), { bytes: MEGABYTE, waitMillis: LONG_WAIT }, cancel.signal);
        assert.equal(recordsOf(aborted), 0);

        await log.append(0, bytes("after"));
        assert.deepEqual(texts(await readAll(log, 0, { count: 1 })), ["after"]);
      }),
  },
  {
    name: "a log of 1,000 partitions is appended to and read in one go",
    run: (engine) =>
      opened(engine, 1000, async ({ log, facts }) => {
        assert.equal(facts.partitions, 1000);
        const parts = Array.from({ length: 1000 }, (_, part) => part);
        await Promise.all(parts.map((part) => log.append(part, bytes(`part ${part}`))));

        const from = new Map<LogPart, number>(parts.map((part) => [part, 0]));
        const seen = new Map<LogPart, readonly string[]>();
        while (seen.size < 1000) {
          const read = await log.read(from, { bytes: MEGABYTE, waitMillis: LONG_WAIT }, never());
          assert.ok(recordsOf(read) > 0, `${seen.size} of 1,000 parts were read`);
          for (const [part, records] of read) {
            if (records.length === 0) continue;
            seen.set(part, [...(seen.get(part) ?? []), ...texts(records)]);
            from.set(part, (records.at(-1)?.offset ?? 0) + 1);
          }
        }

        for (const part of parts) assert.deepEqual(seen.get(part), [`part ${part}`]);
        assert.equal((await log.bounds(parts)).size, 1000);
      }),
  },
  {
    name: "closing ends a waiting read, is safe before opening and twice",
    run: async (engine) => {
      const name = nameOfLog();
      const log = await engine.make(name, 1);
      await log.close(never());
      await log.open(never());
      const waiting = log.read(new Map([[0, 0]]), { bytes: MEGABYTE, waitMillis: LONG_WAIT }, never());
      const ended = waiting.then(recordsOf, () => 0);

      await log.close(never());
      await log.close(never());

      assert.equal(await ended, 0);
      await engine.remove(name);
    },
  },
];
