import assert from "node:assert/strict";
import {
  boundsOf,
  bytes,
  LONG_WAIT,
  type LogCase,
  MEGABYTE,
  nameOfLog,
  never,
  opened,
  readAll,
  texts,
  withLog,
} from "./log-case.js";

/** A log outlives its adapters, and several of them share it. */
export const sharedLogCases: readonly LogCase[] = [
  {
    title: "a log that is closed and opened again has the same id and the same records",
    run: (engine) =>
      opened(engine, 2, async ({ log, facts }) => {
        await log.append(1, bytes("kept"));
        await log.close(never());

        assert.equal((await log.open(never())).id, facts.id);
        assert.deepEqual(texts(await readAll(log, 1, { count: 1 })), ["kept"]);
        await log.append(1, bytes("more"));
        assert.deepEqual(texts(await readAll(log, 1, { count: 2 })), ["kept", "more"]);
      }),
  },
  {
    title: "a log of the same name that is made after it was removed is another one and is empty",
    run: async (engine) => {
      const name = nameOfLog();
      const before = await withLog(await engine.make(name, 1), async ({ log, facts }) => {
        await log.append(0, bytes("old"));
        return facts.id;
      });
      await engine.remove(name);

      await withLog(await engine.make(name, 1), async ({ log, facts }) => {
        assert.notEqual(facts.id, before);
        const { first, next } = await boundsOf(log, 0);
        assert.equal(first, next);
      });
      await engine.remove(name);
    },
  },
  {
    title: "two adapters that open a missing log at the same moment share it",
    run: async (engine) => {
      const name = nameOfLog();
      const [one, other] = [await engine.make(name, 2), await engine.make(name, 2)];
      try {
        const [facts, same] = await Promise.all([one.open(never()), other.open(never())]);
        assert.equal(facts.id, same.id);

        const waiting = other.read(new Map([[1, 0]]), { bytes: MEGABYTE, waitMillis: LONG_WAIT }, never());
        await one.append(1, bytes("from one"));
        assert.deepEqual(texts((await waiting).get(1) ?? []), ["from one"]);
        await other.append(1, bytes("from the other"));
        assert.deepEqual(texts(await readAll(one, 1, { count: 2 })), ["from one", "from the other"]);
      } finally {
        await Promise.all([one.close(never()), other.close(never())]);
        await engine.remove(name);
      }
    },
  },
  {
    title: "what two adapters append to one part at the same time has one order for both",
    run: async (engine) => {
      const name = nameOfLog();
      const logs = [await engine.make(name, 1), await engine.make(name, 1)];
      try {
        for (const log of logs) await log.open(never());
        const wrote = await Promise.all(
          logs.map(async (log, writer) => {
            const offsets: number[] = [];
            for (let count = 0; count < 50; count += 1) {
              offsets.push((await log.append(0, bytes(`${writer} ${count}`))).offset);
            }
            return offsets;
          }),
        );

        const [seen, same] = await Promise.all(logs.map((log) => readAll(log, 0, { count: 100 })));
        assert.deepEqual(texts(seen ?? []), texts(same ?? []));
        const expected = wrote
          .flatMap((offsets, writer) => offsets.map((offset, count) => ({ offset, text: `${writer} ${count}` })))
          .sort((left, right) => left.offset - right.offset);
        assert.deepEqual(
          texts(seen ?? []),
          expected.map(({ text }) => text),
        );
      } finally {
        for (const log of logs) await log.close(never());
        await engine.remove(name);
      }
    },
  },
];
