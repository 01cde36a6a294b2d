import assert from "node:assert/strict";
import { test } from "node:test";
import { packed, packedRecord, recordOverhead, unpackedRecord } from "../../core/log/packed-record.js";
import { codeOf, type Event, keepText, type TextCodec, textCodecs } from "../../core/sdk/index.js";

const head = {
  at: 1_700_000_000_000,
  writer: "6f2c1c52-2b6f-4c39-9a3c-7f0b34d9c111",
  before: Number.MAX_SAFE_INTEGER,
  follows: Number.MAX_SAFE_INTEGER,
};

/** Its body says what it was read from. */
const said: TextCodec = {
  name: "said",
  decode: (text, options) => {
    if (text === "unreadable") throw new Error("no longer");
    return { said: text, options };
  },
};
const codecs = textCodecs([said]);
const headers = { "fiware-service": "Ä\n" };

const bodies: readonly unknown[] = [{ id: "urn:1", text: "a\nb\r\n\u2028\u0000" }, null, [1, 2], "🚌\ud800", 7];
const written: readonly Event[] = bodies.map((body) => ({ headers, body }));
const sent: readonly Event[] = ["", "\n", '{\n "a": "ä🚌"\n}\n', "[{},1]\n[{},2,3]"].map((text) => read(text));

/** An event whose body was read from a text. */
function read(text: string, options = '{"version":"ld"}'): Event {
  const body = { said: text, options };
  keepText(body, { codec: said.name, options, text });
  return { headers, body };
}

function record(events: readonly Event[], known = codecs): Uint8Array {
  const parts = events.map((event) => packed(event, known));
  return packedRecord(parts, head);
}

for (const { name, events } of [
  { name: "no events", events: [] },
  { name: "events with bodies that were made", events: written },
  { name: "events with texts", events: sent },
  { name: "both in turn", events: written.flatMap((event, at) => [event, ...sent.slice(at, at + 1)]) },
  { name: "texts with different options", events: [read("1"), read("2", "{}"), read("3"), read("4", "{}")] },
])
  test(`${name} come out of a record as they went in`, () => {
    const { events: found, ...about } = unpackedRecord(record(events), codecs);

    assert.deepEqual(about, head);
    assert.deepEqual(
      found.map(({ event }) => event),
      events.map(({ body }) => ({ headers, body: JSON.parse(JSON.stringify(body)) })),
    );
  });

test("the text that a body was read from stands in the record as it was sent, and what reads it once", () => {
  const text = Buffer.from(record(sent)).toString();

  for (const { body } of sent) assert.ok(text.includes(`\n${Object(body).said}`));
  assert.equal(text.split('["said",{"version":"ld"}]').length, 2);
});

test("where nothing would read its text again, the body stands in the record itself", () => {
  const [event] = sent;

  assert.deepEqual(unpackedRecord(record(sent, textCodecs()), textCodecs()).events[0]?.event, event);
});

for (const { name, known } of [
  { name: "with an error", known: codecs },
  { name: "because its codec is gone", known: textCodecs() },
])
  test(`a text that can no longer be read, ${name}, is the body of its event, and the others are read`, () => {
    const events = [...written.slice(0, 1), read("unreadable"), ...written.slice(0, 1)];

    const found = unpackedRecord(record(events), known).events.map(({ event }) => event.body);

    assert.deepEqual(found, [bodies[0], "unreadable", bodies[0]]);
  });

test("a record is not larger than its events and the overhead", () => {
  for (const events of [
    written,
    sent,
    [read("ä".repeat(100_000))],
    [...sent, ...sent.map(() => read("x", '{"a":"ä"}'))],
  ]) {
    const parts = events.map((event) => packed(event, codecs));

    const bytes = packedRecord(parts, head).byteLength;

    assert.ok(bytes <= recordOverhead + parts.reduce((sum, part) => sum + part.bytes, 0));
  }
});

test("a record of version 1 is read", () => {
  const text = '{"deneb":1,"events":2,"at":5,"writer":"w","before":3}\n[{"a":"b"},{"id":"e1"}]\n[{},null]';

  const { events, ...about } = unpackedRecord(Buffer.from(text), codecs);

  assert.deepEqual(about, { at: 5, writer: "w", before: 3, follows: undefined });
  assert.deepEqual(
    events.map(({ event }) => event),
    [
      { headers: { a: "b" }, body: { id: "e1" } },
      { headers: {}, body: null },
    ],
  );
});

test("the first record of a writer, like each one of an earlier version, says nothing of a record that it follows", () => {
  const { events, ...about } = unpackedRecord(packedRecord([], { at: 5, writer: "w", before: 0 }), codecs);

  assert.deepEqual([about, events], [{ at: 5, writer: "w", before: 0, follows: undefined }, []]);
});

const about = '"at":0,"writer":"w","before":0';
const odd = [
  { title: "nothing", text: "", code: "RECORD_UNREADABLE" },
  { title: "text", text: "hello", code: "RECORD_UNREADABLE" },
  { title: "JSON of others", text: '{"a":1}', code: "RECORD_UNREADABLE" },
  { title: "a later version", text: '{"deneb":3,"events":0,"at":0}', code: "RECORD_NEWER" },
  { title: "fewer events than it says", text: `{"deneb":1,"events":1,${about}}`, code: "RECORD_UNREADABLE" },
  { title: "an event without headers", text: `{"deneb":1,"events":1,${about}}\n[1,2]`, code: "RECORD_UNREADABLE" },
  {
    title: "a text that ends too soon",
    text: `{"deneb":2,"events":1,${about},"texts":[["said",{}]]}\n[{},0,4]\nabc`,
    code: "RECORD_UNREADABLE",
  },
  {
    title: "a text that does not end where it says",
    text: `{"deneb":2,"events":1,${about},"texts":[["said",{}]]}\n[{},0,2]\nabc`,
    code: "RECORD_UNREADABLE",
  },
  {
    title: "a text that nothing reads",
    text: `{"deneb":2,"events":1,${about},"texts":[]}\n[{},0,3]\nabc`,
    code: "RECORD_UNREADABLE",
  },
  {
    title: "a text of no length",
    text: `{"deneb":2,"events":1,${about},"texts":[["said",{}]]}\n[{},0,-1]\nabc`,
    code: "RECORD_UNREADABLE",
  },
  {
    title: "a reader that has no name",
    text: `{"deneb":2,"events":0,${about},"texts":[[1,{}]]}`,
    code: "RECORD_UNREADABLE",
  },
];

for (const { title, text, code } of odd)
  test(`a record with ${title} is refused with ${code}`, () => {
    assert.throws(
      () => unpackedRecord(Buffer.from(text), codecs),
      (error) => codeOf(error) === code,
    );
  });
