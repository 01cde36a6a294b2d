import assert from "node:assert/strict";
import { test } from "node:test";
import { packed, packedRecord, recordOverhead, unpackedRecord } from "../../core/log/packed-record.js";
import { codeOf } from "../../core/sdk/index.js";

const head = { at: 1_700_000_000_000, writer: "6f2c1c52-2b6f-4c39-9a3c-7f0b34d9c111", before: Number.MAX_SAFE_INTEGER };

const bodies: readonly unknown[] = [{ id: "urn:1", text: "a\nb\r\n\u2028\u0000" }, null, [1, 2], "🚌\ud800", 7];

test("events come out of a record as they went in", () => {
  const events = bodies.map((body) => ({ headers: { "fiware-service": "Ä\n" }, body }));

  const { events: read, ...about } = unpackedRecord(packedRecord(events.map(packed), head));

  assert.deepEqual(about, head);
  assert.deepEqual(
    read.map(({ event }) => event),
    events.map(({ headers, body }) => ({ headers, body: JSON.parse(JSON.stringify(body)) })),
  );
});

test("a record is not larger than its events and the overhead", () => {
  const lines = bodies.map((body) => packed({ headers: {}, body }));

  const bytes = packedRecord(lines, head).byteLength;

  assert.ok(bytes <= recordOverhead + lines.reduce((sum, line) => sum + line.bytes, 0));
});

const odd = [
  { title: "nothing", text: "", code: "RECORD_UNREADABLE" },
  { title: "text", text: "hello", code: "RECORD_UNREADABLE" },
  { title: "JSON of others", text: '{"a":1}', code: "RECORD_UNREADABLE" },
  { title: "a later version", text: '{"deneb":2,"events":0,"at":0}', code: "RECORD_NEWER" },
  {
    title: "fewer events than it says",
    text: '{"deneb":1,"events":1,"at":0,"writer":"w","before":0}',
    code: "RECORD_UNREADABLE",
  },
  {
    title: "an event without headers",
    text: '{"deneb":1,"events":1,"at":0,"writer":"w","before":0}\n[1,2]',
    code: "RECORD_UNREADABLE",
  },
];

for (const { title, text, code } of odd)
  test(`a record with ${title} is refused with ${code}`, () => {
    assert.throws(
      () => unpackedRecord(Buffer.from(text)),
      (error) => codeOf(error) === code,
    );
  });
