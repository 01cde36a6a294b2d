import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { atBeginning } from "../../core/log/log-position.js";
import type { OwnPart } from "../../core/log/own-parts.js";
import { packed, packedRecord } from "../../core/log/packed-record.js";
import { PartQueue } from "../../core/log/part-queue.js";
import { PartReader } from "../../core/log/part-reader.js";
import type { LogPart, LogRecord } from "../../core/log/partitioned-log.js";
import type { ReadRecord } from "../../core/log/read-edge.js";
import { textCodecs } from "../../core/sdk/index.js";
import { recordingLog } from "../support/recording-log.js";

const head = { at: 0, writer: "w", before: 0 };
const event = { event: { headers: {}, body: { id: "e1" } }, origin: undefined };

test("a read leaves out what this agent has appended without decoding it, and goes on behind it", async () => {
  const own: OwnPart = { queue: new PartQueue(0, atBeginning, 0), holders: 0, leaving: false, end: 0 };
  const asked: (number | undefined)[] = [];
  const added: number[] = [];
  let unreadable = 0;
  const second = new AbortController();
  const reader = new PartReader({
    log: {
      read: async (from: ReadonlyMap<LogPart, number>, _limits, signal): Promise<ReadonlyMap<LogPart, LogRecord[]>> => {
        asked.push(from.get(0));
        if (asked.length > 1) {
          second.abort();
          return await new Promise((resolve) => signal.addEventListener("abort", () => resolve(new Map())));
        }
        own.queue.add({ from: 0, records: [{ ...head, offset: 0, bytes: 10, events: [event] }] });
        return new Map([[0, [{ offset: 0, value: Buffer.from("no record of an agent") }]]]);
      },
    },
    own: new Map([[0, own]]),
    prefetchBytes: 65_536,
    add: (part) => added.push(part),
    codecs: textCodecs(),
    isAlone: () => false,
    unreadable: () => {
      unreadable += 1;
    },
    outcome: () => {},
    logger: recordingLog().log,
  });

  const readAgain = once(second.signal, "abort");
  reader.start();
  await readAgain;
  await reader.stop();

  assert.deepEqual(asked, [0, 1]);
  assert.deepEqual(added, []);
  assert.equal(unreadable, 0);
});

test("a part that is given away and taken again during a read is read from where it begins then, without a gap", async () => {
  const value = packedRecord([packed(event.event, textCodecs())], head);
  const readAhead = new PartQueue(0, atBeginning, 0);
  const records = [0, 1, 2].map((offset) => ({ ...head, before: offset, offset, bytes: 10, events: [event] }));
  readAhead.add({ from: 0, records });
  const again = new PartQueue(0, atBeginning, 0);
  const parts = new Map<number, OwnPart>([[0, { queue: readAhead, holders: 0, leaving: false, end: 0 }]]);
  const asked: (number | undefined)[] = [];
  const added: number[] = [];
  const third = new AbortController();
  const reader = new PartReader({
    log: {
      read: async (from: ReadonlyMap<LogPart, number>, _limits, signal): Promise<ReadonlyMap<LogPart, LogRecord[]>> => {
        const begin = from.get(0) ?? 0;
        asked.push(begin);
        if (asked.length > 2) {
          third.abort();
          return await new Promise((resolve) => signal.addEventListener("abort", () => resolve(new Map())));
        }
        parts.set(0, { queue: again, holders: 0, leaving: false, end: 0 });
        return new Map([[0, [begin, begin + 1, begin + 2, begin + 3].map((offset) => ({ offset, value }))]]);
      },
    },
    own: parts,
    prefetchBytes: 65_536,
    add: (_part, read) => {
      added.push(...read.records.map(({ offset }) => offset));
      again.add(read);
    },
    codecs: textCodecs(),
    isAlone: () => false,
    unreadable: () => {},
    outcome: () => {},
    logger: recordingLog().log,
  });

  const readThrice = once(third.signal, "abort");
  reader.start();
  await readThrice;
  await reader.stop();

  assert.deepEqual(asked, [3, 0, 4]);
  assert.deepEqual(added, [0, 1, 2, 3]);
});

for (const { name, bytes, end, reads } of [
  { name: "reads that find little begin some milliseconds apart", bytes: 10, end: 0, reads: [2, 3, 4] },
  { name: "a read that finds much is followed by the next one at once", bytes: 70_000, end: 0, reads: [20, 20, 20] },
  {
    name: "reads of what was there at the beginning follow one another at once",
    bytes: 10,
    end: 100,
    reads: [20, 20, 20],
  },
])
  test(name, async (context) => {
    context.mock.timers.enable({ apis: ["setTimeout"] });
    let now = 0;
    context.mock.method(performance, "now", () => now);
    const own: OwnPart = { queue: new PartQueue(0, atBeginning, 0), holders: 0, leaving: false, end };
    const text = "x".repeat(bytes);
    let asked = 0;
    const reader = new PartReader({
      log: {
        read: async (
          from: ReadonlyMap<LogPart, number>,
          _limits,
          signal,
        ): Promise<ReadonlyMap<LogPart, LogRecord[]>> => {
          asked += 1;
          if (asked >= 20)
            return await new Promise((resolve) => signal.addEventListener("abort", () => resolve(new Map())));
          const offset = from.get(0) ?? 0;
          const record = packedRecord([packed({ headers: {}, body: { text } }, textCodecs())], {
            ...head,
            writer: `w${offset}`,
          });
          return new Map([[0, [{ offset, value: record }]]]);
        },
      },
      own: new Map([[0, own]]),
      prefetchBytes: 100_000_000,
      add: (_part, read) => own.queue.add(read),
      codecs: textCodecs(),
      isAlone: () => false,
      unreadable: () => {},
      outcome: () => {},
      logger: recordingLog().log,
    });
    const turns = async () => {
      for (let turn = 0; turn < 200; turn += 1) await nextTurn();
      return asked;
    };

    reader.start();
    const counts = [await turns()];
    for (let step = 0; step < 2; step += 1) {
      now += 20;
      context.mock.timers.tick(20);
      counts.push(await turns());
    }
    await reader.stop();

    assert.deepEqual(counts, reads);
  });

for (const { name, isAlone, reads } of [
  { name: "what this agent has appended is read soon while others append, too", isAlone: false, reads: [1, 2, 3] },
  { name: "an agent that is alone seldom reads what it has appended", isAlone: true, reads: [1, 1, 1] },
])
  test(name, async (context) => {
    context.mock.timers.enable({ apis: ["setTimeout"] });
    const { own, reader, asked } = echoing({ isAlone });

    reader.start();
    const counts = [await asked(1)];
    for (let step = 0; step < 2; step += 1) {
      context.mock.timers.tick(20);
      counts.push(await asked(reads[step + 1] ?? 0));
    }
    context.mock.timers.tick(250);
    const later = await asked((counts.at(-1) ?? 0) + 1);
    await reader.stop();

    assert.deepEqual(counts, reads);
    assert.ok(later > (counts.at(-1) ?? 0), "it goes on");
    assert.equal(own.queue.size > 0, true);
  });

for (const { name, after } of [
  {
    name: "an append of another agent is read at once",
    after: (reader: PartReader, own: OwnPart) => reader.missed(own, value, () => record(9)),
  },
  {
    name: "what had no room is read as soon as there is room",
    after: (reader: PartReader) => {
      reader.left(0);
      reader.drained(0);
    },
  },
])
  test(`${name}, although this agent was alone`, async (context) => {
    context.mock.timers.enable({ apis: ["setTimeout"] });
    const { own, reader, asked } = echoing({ isAlone: true });
    reader.start();
    const before = await asked(1);

    after(reader, own);

    assert.equal(await asked(before + 1), before + 1);
    await reader.stop();
  });

const value = Buffer.from("no record of an agent");
const record = (offset: number): ReadRecord => ({ ...head, writer: "own", offset, bytes: 10, events: [event] });

/** What the log has at offset 1, behind a record of another agent. */
const kept: readonly {
  readonly name: string;
  readonly found?: string;
  readonly prefetchBytes?: number;
  readonly isBegunAgain?: boolean;
  readonly writers: readonly string[];
}[] = [
  {
    name: "what this agent has appended behind a record of another one is not decoded when it is read",
    writers: ["w", "own"],
  },
  {
    name: "what the log has where this agent appended something else is what is delivered",
    found: "some record of an agent",
    writers: ["w", "unreadable 1"],
  },
  {
    name: "what this agent has appended is decoded after it has begun again with the part",
    isBegunAgain: true,
    writers: ["w", "unreadable 1"],
  },
  {
    name: "what this agent has appended is not kept beyond the bytes that are read ahead",
    prefetchBytes: 10,
    writers: ["w", "unreadable 1"],
  },
];

for (const { name, found = value.toString(), prefetchBytes = 65_536, isBegunAgain = false, writers } of kept)
  test(name, async () => {
    const begun = (): OwnPart => ({ queue: new PartQueue(0, atBeginning, 0), holders: 0, leaving: false, end: 0 });
    const own = new Map([[0, begun()]]);
    const delivered: string[] = [];
    const all = new AbortController();
    const long = Buffer.alloc(prefetchBytes < value.length ? 40_000 : 0);
    const reader = new PartReader({
      log: {
        read: async (
          from: ReadonlyMap<LogPart, number>,
          _limits,
          signal,
        ): Promise<ReadonlyMap<LogPart, LogRecord[]>> => {
          if (from.get(0) !== 0)
            return await new Promise((resolve) => signal.addEventListener("abort", () => resolve(new Map())));
          const other = packedRecord([packed(event.event, textCodecs())], head);
          return new Map([
            [
              0,
              [
                { offset: 0, value: other },
                { offset: 1, value: Buffer.concat([Buffer.from(found), long]) },
              ],
            ],
          ]);
        },
      },
      own,
      prefetchBytes,
      add: (_part, read) => {
        own.get(0)?.queue.add(read);
        delivered.push(...read.records.map(({ writer }) => writer));
        all.abort();
      },
      codecs: textCodecs(),
      isAlone: () => false,
      unreadable: () => {},
      outcome: () => {},
      logger: recordingLog().log,
    });

    const first = own.get(0);
    assert.ok(first !== undefined);
    reader.missed(first, Buffer.concat([value, long]), () => record(1));
    if (isBegunAgain) own.set(0, begun());
    const ended = once(all.signal, "abort");
    reader.start();
    await ended;
    await reader.stop();

    assert.deepEqual(delivered, writers);
  });

/** A reader of a part of which each read finds only what is in the queue already. */
function echoing({ isAlone }: { readonly isAlone: boolean }) {
  const own: OwnPart = { queue: new PartQueue(0, atBeginning, 0), holders: 0, leaving: false, end: 0 };
  let count = 0;
  const reader = new PartReader({
    log: {
      read: async (from: ReadonlyMap<LogPart, number>): Promise<ReadonlyMap<LogPart, LogRecord[]>> => {
        count += 1;
        const offset = from.get(0) ?? 0;
        own.queue.add({ from: 0, records: [{ ...head, before: offset, offset, bytes: 10, events: [event] }] });
        return new Map([[0, [{ offset, value: Buffer.from("no record of an agent") }]]]);
      },
    },
    own: new Map([[0, own]]),
    prefetchBytes: 65_536,
    add: () => assert.fail("it was there already"),
    codecs: textCodecs(),
    isAlone: () => isAlone,
    unreadable: () => {},
    outcome: () => {},
    logger: recordingLog().log,
  });
  /** The number of reads, when that many have begun, or after many turns. */
  const asked = async (least: number) => {
    for (let turn = 0; turn < 200 && count < least; turn += 1) await nextTurn();
    for (let turn = 0; turn < 20; turn += 1) await nextTurn();
    return count;
  };
  return { own, reader, asked };
}

test("while a record of a later version holds up one part, the others are read without a pause", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const parts = new Map<number, OwnPart>();
  for (const part of [0, 1])
    parts.set(part, { queue: new PartQueue(part, atBeginning, 0), holders: 0, leaving: false, end: 0 });
  const large = { headers: {}, body: { text: "x".repeat(70_000) } };
  const outcomes: unknown[] = [];
  const enough = new AbortController();
  let asked = 0;
  const reader = new PartReader({
    log: {
      read: async (from: ReadonlyMap<LogPart, number>, _limits, signal): Promise<ReadonlyMap<LogPart, LogRecord[]>> => {
        asked += 1;
        if (asked === 5) {
          enough.abort();
          return await new Promise((resolve) => signal.addEventListener("abort", () => resolve(new Map())));
        }
        const offset = from.get(1) ?? 0;
        const record = packedRecord([packed(large, textCodecs())], { ...head, writer: `w${offset}` });
        const found = new Map<LogPart, LogRecord[]>([[1, [{ offset, value: record }]]]);
        if (from.has(0)) found.set(0, [{ offset: 0, value: Buffer.from('{"deneb":99}') }]);
        return found;
      },
    },
    own: parts,
    prefetchBytes: 100_000_000,
    add: (part, read) => parts.get(part)?.queue.add(read),
    codecs: textCodecs(),
    isAlone: () => false,
    unreadable: () => {},
    outcome: (error) => outcomes.push(error),
    logger: recordingLog().log,
  });

  const readEnough = once(enough.signal, "abort");
  reader.start();
  await readEnough;
  await reader.stop();

  assert.equal(parts.get(1)?.queue.next, 4);
  assert.deepEqual(
    outcomes.slice(0, 4).map((error) => /version 99/.test(String(error))),
    [true, true, true, true],
  );
});
