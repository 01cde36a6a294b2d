import assert from "node:assert/strict";
import type { Appended, PartitionedLog } from "../../log/index.js";
import { AgentError } from "../../sdk/index.js";
import type { ConformanceLogs } from "../plugin-setup.js";
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
  readUntil,
  rejects,
  texts,
  withLog,
} from "./log-case.js";

/** A log outlives its adapters, and several of them share it. */
export const sharedLogCases: readonly LogCase[] = [
  {
    name: "a log that is closed and opened again has the same id and the same records",
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
    name: "a log of the same name that is made after it was removed is another one and is empty",
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
    name: "two adapters that open a missing log at the same moment share it",
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
    name: "what two adapters append to one part at the same time has one order for both, and each append says what is before it",
    run: (engine) =>
      shared(engine, 1, async (one, other) => {
        const wrote = await Promise.all([appendAll(one, numbered("one", 50)), appendAll(other, numbered("other", 50))]);

        const [seen, same] = await Promise.all([one, other].map((log) => readAll(log, 0, { count: 100 })));
        assert.deepEqual(texts(seen ?? []), texts(same ?? []));
        const expected = wrote.flat().sort((left, right) => left.offset - right.offset);
        assert.deepEqual(
          texts(seen ?? []),
          expected.map(({ text }) => text),
        );
        for (const [at, { text, previous }] of expected.entries())
          if (previous !== undefined)
            assert.equal(previous, expected[at - 1]?.offset ?? -1, `the record before "${text}"`);
      }),
  },
  {
    name: "a record that is before the first one of an adapter is before it in what its append says",
    run: (engine) =>
      shared(engine, 1, async (one, other) => {
        const [first] = await appendAll(one, ["first"]);
        const [second] = await appendAll(other, ["second"]);
        const [third] = await appendAll(one, ["third"]);

        for (const [record, before] of [
          [second, first],
          [third, second],
        ])
          if (record?.previous !== undefined)
            assert.equal(record.previous, before?.offset, `the record before "${record.text}"`);
      }),
  },
  {
    name: "the bounds that an adapter says of a part follow what another one appends and trims",
    run: (engine) =>
      shared(engine, 1, async (one, other) => {
        for (const part of [0, "agents", "letters"] as const) {
          await boundsOf(one, part);
          await one.append(part, bytes("own"));
          const { offset: second } = await other.append(part, bytes("second"));
          const { offset: third } = await other.append(part, bytes("third"));
          const { next } = await boundsOf(one, part);
          assert.ok(next > third, `the next record of part ${part} gets offset ${next} after ${third}`);

          await other.trim(new Map([[part, second]]));
          const { first } = await boundsOf(one, part);
          assert.ok(first <= second, `part ${part} begins with offset ${first} after a trim to ${second}`);
        }
      }),
  },
  {
    name: "a part that is trimmed to its end goes on with larger offsets in every adapter, also in one that opens it later",
    run: (engine) =>
      shared(engine, 1, async (one, other, later) => {
        await appendAll(one, ["a", "b"]);
        const { next } = await boundsOf(one, 0);
        await one.trim(new Map([[0, next]]));
        await one.close(never());

        const [c] = await appendAll(other, ["c"]);
        assert.ok((c?.offset ?? -1) >= next, `offset ${c?.offset} after a trim to ${next}`);
        await other.trim(new Map([[0, (c?.offset ?? 0) + 1]]));
        await other.close(never());

        await withLog(await later(), async ({ log }) => {
          const { first, next: end } = await boundsOf(log, 0);
          assert.ok(first <= end, `the bounds are ${first} and ${end}`);
          assert.ok(end > (c?.offset ?? 0), `the next record gets offset ${end} after ${c?.offset}`);
          const [d] = await appendAll(log, ["d"]);
          assert.ok((d?.offset ?? -1) > (c?.offset ?? 0), `offset ${d?.offset} after ${c?.offset}`);
          assert.equal(texts(await readUntil(log, 0, d?.offset ?? 0)).at(-1), "d");
        });
      }),
  },
  {
    name: "an adapter that is set to another number of partitions says how many the log has, or refuses with LOG_SETTINGS",
    run: (engine) =>
      opened(engine, 2, async (_, name) => {
        const other = await engine.make(name, 3);
        try {
          const { partitions } = await other.open(never());
          assert.equal(partitions, 2, "partitions of a log that was made with 2");
        } catch (error) {
          if (!(error instanceof AgentError) || error.code !== "LOG_SETTINGS" || error.retryable) throw error;
        } finally {
          await other.close(never());
        }
      }),
  },
];

/** What is there of an engine that keeps the name of a record. */
export const namedRecordCases: readonly LogCase[] = [
  {
    name: "a record that comes again under its name is kept once, where it stands, whatever was appended meanwhile",
    run: (engine) =>
      shared(engine, 1, async (one, other, later) => {
        const first = await one.append(0, bytes("first"), "writer.0");
        const others = numbered("other", 20);
        for (const text of others) await other.append(0, bytes(text), text);

        // An adapter whose first append was not answered has not seen that the record is there.
        await withLog(await later(), async ({ log }) => {
          const again = await log.append(0, bytes("first"), "writer.0");
          await log.append(0, bytes("second"), "writer.1");
          assert.equal(again.offset, first.offset, "the offset of a record that is there");
          if (again.previous !== undefined)
            assert.ok(again.previous < again.offset, `offset ${again.previous} is before ${again.offset}`);
        });

        assert.deepEqual(texts(await readAll(other, 0, { count: 22 })), ["first", ...others, "second"]);
      }),
  },
];

/** What is there of an engine that can be out of reach. */
export const unreachableLogCases: readonly LogCase[] = [
  {
    name: "an engine that cannot be reached is LOG_UNAVAILABLE, and closing works then",
    run: async ({ unreachable }) => {
      const log = await unreachable?.();
      if (log === undefined) return;
      try {
        await rejects(log.open(never()), "LOG_UNAVAILABLE", true);
      } finally {
        await log.close(never());
      }
    },
  },
];

type Work = (one: PartitionedLog, other: PartitionedLog, later: () => Promise<PartitionedLog>) => Promise<void>;

/** Two adapters that have the same log open, and others that are not open. */
async function shared(engine: ConformanceLogs, partitions: number, work: Work): Promise<void> {
  const name = nameOfLog();
  const later = async () => await engine.make(name, partitions);
  await withLog(await later(), async ({ log: one }) =>
    withLog(await later(), async ({ log: other }) => work(one, other, later)),
  );
  await engine.remove(name);
}

interface Wrote extends Appended {
  readonly text: string;
}

/** One after another, to the first part. */
async function appendAll(log: PartitionedLog, values: readonly string[]): Promise<readonly Wrote[]> {
  const wrote: Wrote[] = [];
  for (const text of values) wrote.push({ text, ...(await log.append(0, bytes(text))) });
  return wrote;
}

function numbered(writer: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => `${writer} ${at}`);
}
