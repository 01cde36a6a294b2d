import assert from "node:assert/strict";
import { test } from "node:test";
import { loadLibrary } from "../../../plugins/kafka/client/library.js";
import type { Message, Outgoing } from "../../../plugins/kafka/client/outgoing.js";
import { produceRequest } from "../../../plugins/kafka/client/produce-request.js";

const now = 1_790_000_000_123;
const identity = { producerId: 2n ** 40n + 7n, producerEpoch: 3 };
const waitMillis = 8000;

const text = (length: number): Message => ({ value: Buffer.from("v".repeat(length)) });
const named: Message = {
  key: Buffer.from("Room:1"),
  value: Buffer.from("ñ"),
  headers: new Map([
    [Buffer.from("content-type"), Buffer.from("application/json")],
    [Buffer.from(""), Buffer.alloc(0)],
  ]),
  timestamp: 1_690_000_000_000n,
};

const cases: readonly { readonly name: string; readonly places: readonly (readonly [string, Message[], number?])[] }[] =
  [
    { name: "one message", places: [["events", [text(10)]]] },
    { name: "an empty message", places: [["events", [text(0)]]] },
    {
      name: "lengths of one to four bytes",
      places: [["events", [text(62), text(63), text(64), text(8191), text(8192), text(1_048_576)]]],
    },
    { name: "keys, headers and times", places: [["events", [named, { ...named, timestamp: 1_690_000_000_999n }]]] },
    { name: "times that go back", places: [["events", [named, { ...named, timestamp: 1_689_999_999_000n }]]] },
    {
      name: "a topic with several partitions",
      places: Array.from({ length: 200 }, (_, at) => ["events", [text(at)], at] as const),
    },
    {
      name: "several topics",
      places: [
        ["events", [text(3)]],
        ["events.agents", [text(5)]],
        ["tópico", [named]],
      ],
    },
    { name: "sequences up to the greatest", places: [["events", [text(1)], 2 ** 31 - 1]] },
  ];

for (const { name, places } of cases)
  test(`a request to write is what the library would send: ${name}`, async () => {
    const library = await loadLibrary();
    const batch: readonly Outgoing[] = places.map(([topic, messages, sequence = 0], index) => {
      const partition = places.filter((place, at) => at < index && place[0] === topic).length;
      return { topic, partition, messages, bytes: 0, identity, sequence };
    });
    const messages = batch.flatMap(({ topic, partition, messages: own }) =>
      own.map((message) => ({ timestamp: BigInt(now), ...message, topic, partition })),
    );
    const sequences = new library.NumericMap(batch.map((one) => [`${one.topic}:${one.partition}`, one.sequence]));

    const checksum = (bytes: Buffer) => library.crc32c(bytes);
    const made = produceRequest({ batch, identity, waitMillis, now, checksum });

    const { createRequest } = library.produceV9;
    assert.deepEqual(made, createRequest(-1, waitMillis, messages, { ...identity, sequences }).buffer);
  });

test("times of one batch that are years apart are kept, which the library does not", async () => {
  const library = await loadLibrary();
  const times = [1_690_000_000_000, 1_400_000_000_001, 1_790_000_000_002];
  const messages = times.map((time) => ({ value: Buffer.from("v"), timestamp: BigInt(time) }));
  const outgoing = { topic: "t", partition: 0, messages, bytes: 0, identity, sequence: 0 };

  const made = produceRequest({ batch: [outgoing], identity, waitMillis, now, checksum: (of) => library.crc32c(of) });

  const before = "00 ffff 00001f40 02 02 74 02 00000000 00".replaceAll(" ", "").length / 2;
  const batch = library.readRecordsBatch(library.Reader.from(made.subarray(before)));
  const kept = batch.records.map(({ timestampDelta }) => Number(batch.firstTimestamp + timestampDelta));
  assert.deepEqual(kept, times);
  assert.equal(Number(batch.maxTimestamp), times[2]);
});
