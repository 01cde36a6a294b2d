import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { LogPart, PartitionedLog } from "../../log/index.js";
import {
  at,
  boundsOf,
  bytes,
  type LogCase,
  MEGABYTE,
  nameOfLog,
  opened,
  readAll,
  readUntil,
  rejects,
  texts,
  withLog,
} from "./log-case.js";

/** What is appended is kept unchanged, in order, until it is trimmed. */
export const recordCases: readonly LogCase[] = [
  {
    name: "a new log is empty and has the partitions that were asked for",
    run: (engine) =>
      opened(engine, 3, async ({ log, facts }) => {
        assert.equal(facts.partitions, 3);
        assert.match(facts.id, /^[\w./-]+$/);
        assert.ok(facts.largestRecord >= 64 * 1024, String(facts.largestRecord));
        assert.ok(Array.isArray(facts.warnings), "the warnings of open are a list");
        for (const part of [0, 1, 2, "agents", "letters"] as const) {
          const { first, next } = await boundsOf(log, part);
          assert.equal(first, next, `part ${part} is empty`);
        }
      }),
  },
  {
    name: "what an opened log says of its settings later is what it said when it was opened",
    run: (engine) =>
      opened(engine, 1, async ({ log, facts }) => {
        const settings = log.settings === undefined ? facts : await log.settings();

        assert.equal(settings.largestRecord, facts.largestRecord);
        assert.deepEqual(settings.warnings, facts.warnings);
      }),
  },
  {
    name: "each part gives back its own records, in the order in which they were appended",
    run: (engine) =>
      opened(engine, 2, async ({ log }) => {
        const parts: readonly LogPart[] = [0, 1, "agents", "letters"];
        for (const round of [1, 2, 3]) for (const part of parts) await log.append(part, bytes(`${part} ${round}`));

        for (const part of parts) {
          const records = await readAll(log, part, { count: 3 });
          assert.deepEqual(texts(records), [`${part} 1`, `${part} 2`, `${part} 3`]);
        }
      }),
  },
  {
    name: "each record of a part has the offset behind that of the one before it, where the log says that it is gapless",
    run: (engine) =>
      opened(engine, 2, async ({ log, facts }) => {
        const offsets: number[] = [];
        for (const part of [0, 1, 0, "agents", 1, 0, "letters", 0] as const) {
          const { offset } = await log.append(part, bytes("one"));
          if (part === 0) offsets.push(offset);
        }

        const [first = 0] = offsets;
        if (facts.gapless === true) assert.deepEqual(offsets, [first, first + 1, first + 2, first + 3]);
        else assert.ok(offsets.every((offset, at) => at === 0 || offset > (offsets[at - 1] ?? 0)));
      }),
  },
  {
    name: "an appended record stands at the offset that its append says, after the record that it says",
    run: (engine) =>
      opened(engine, 1, async ({ log }) => {
        const first = await log.append(0, bytes("first"));
        const second = await log.append(0, bytes("second"));

        assert.ok(second.offset > first.offset && Number.isSafeInteger(second.offset));
        if (first.previous !== undefined) assert.equal(first.previous, -1);
        if (second.previous !== undefined) assert.equal(second.previous, first.offset);
        assert.deepEqual(
          (await readAll(log, 0, { count: 2 })).map(({ offset }) => offset),
          [first.offset, second.offset],
        );
      }),
  },
  {
    name: "the bounds of a part tell its oldest record and where the next one goes",
    run: (engine) =>
      opened(engine, 1, async ({ log }) => {
        const first = await log.append(0, bytes("first"));
        const second = await log.append(0, bytes("second"));

        const bounds = await boundsOf(log, 0);

        assert.equal(bounds.first, first.offset);
        assert.ok(bounds.next > second.offset);
        assert.ok((await log.append(0, bytes("third"))).offset >= bounds.next);
      }),
  },
  {
    name: "a value comes back byte by byte, whether it is empty, binary or large",
    run: (engine) =>
      opened(engine, 1, async ({ log }) => {
        const values = [Buffer.alloc(0), Buffer.from([0, 255, 10, 13, 0]), randomBytes(64 * 1024), bytes("after")];
        for (const value of values) await log.append(0, value);

        const records = await readAll(log, 0, { count: values.length });

        assert.deepEqual(
          records.map(({ value }) => Buffer.from(value)),
          values.map((value) => Buffer.from(value)),
        );
      }),
  },
  {
    name: "a record of the largest size is kept, and a larger one refused with RECORD_TOO_LARGE",
    run: (engine) =>
      opened(engine, 1, async ({ log, facts: { largestRecord } }) => {
        const large = randomBytes(Math.min(largestRecord, 8 * MEGABYTE));
        if (largestRecord <= 8 * MEGABYTE) {
          await rejects(log.append(0, Buffer.concat([large, Buffer.alloc(1)])), "RECORD_TOO_LARGE", false);
        }
        await log.append(0, large);
        await log.append(0, bytes("after"));

        const [kept, after] = await readAll(log, 0, { count: 2, from: 0, size: 1024 });

        assert.ok(large.equals(kept?.value ?? Buffer.alloc(0)));
        assert.deepEqual(texts([after]), ["after"]);
      }),
  },
  {
    name: "after a trim a part begins at the given offset or before it, and a read from its old beginning goes on there",
    run: (engine) =>
      opened(engine, 2, async ({ log }) => {
        const offsets: number[] = [];
        for (const text of ["a", "b", "c", "d"]) offsets.push((await log.append(0, bytes(text))).offset);
        const others: readonly LogPart[] = [1, "agents", "letters"];
        for (const part of others) await log.append(part, bytes("other"));

        await log.trim(new Map([[0, at(offsets, 2)]]));

        const { first, next } = await boundsOf(log, 0);
        assert.ok(first <= at(offsets, 2) && next > at(offsets, 3));
        const kept = ["a", "b", "c", "d"].filter((_, index) => at(offsets, index) >= first);
        assert.deepEqual(texts(await readAll(log, 0, { count: kept.length })), kept);
        for (const part of others) {
          const { first: oldest, next: end } = await boundsOf(log, part);
          assert.ok(oldest < end, `part ${part}, which was not trimmed, has a record`);
          assert.deepEqual(texts(await readAll(log, part, { count: 1 })), ["other"]);
        }
      }),
  },
  {
    name: "a part that is trimmed to its end goes on with larger offsets, and an old offset skips to them",
    run: (engine) =>
      opened(engine, 1, async ({ log }) => {
        for (const text of ["a", "b"]) await log.append(0, bytes(text));
        const { next } = await boundsOf(log, 0);
        await log.trim(new Map([[0, next]]));

        const { offset } = await log.append(0, bytes("c"));

        assert.ok(offset >= next);
        assert.equal(texts(await readUntil(log, 0, offset)).at(-1), "c");
        await log.trim(new Map([[0, 0]]));
        assert.equal(texts(await readUntil(log, 0, offset)).at(-1), "c");
      }),
  },
  {
    name: "a part that is measured while another agent appends to it begins with its oldest record",
    run: async (engine) => {
      const partitions = 20;
      const name = nameOfLog();
      await withLog(await engine.make(name, partitions), async ({ log }) =>
        withLog(await engine.make(name, partitions), async ({ log: other }) => {
          for (let part = 0; part < partitions; part += 1) {
            const oldest = part % 2 === 0 ? undefined : (await log.append(part, bytes("oldest"))).offset;
            const appending = appendAll(other, part, ["a", "b", "c", "d"]);

            const { first, next } = await boundsOf(log, part);

            const [second = Number.NaN] = await appending;
            assert.ok(first <= (oldest ?? second) && first <= next, `${first} to ${next} from ${oldest ?? second}`);
          }
        }),
      );
      await engine.remove(name);
    },
  },
];

/** The offsets of the records, one after another. */
async function appendAll(log: PartitionedLog, part: number, values: readonly string[]): Promise<readonly number[]> {
  const offsets: number[] = [];
  for (const value of values) offsets.push((await log.append(part, bytes(value))).offset);
  return offsets;
}
