import assert from "node:assert/strict";
import { test } from "node:test";
import { notificationCodec } from "../../../../core/ngsi/index.js";
import { type Event, keepText, type TextCodec, type TextCodecs, textCodecs } from "../../../../core/sdk/index.js";
import { eventOf, textOf as textInParts } from "../../../../plugins/file-channel/log/stored-event.js";

const upper: TextCodec = { name: "upper", decode: (text, options) => ({ said: text.toUpperCase(), options }) };
const codecs = textCodecs([upper]);

const headers = { "fiware-service": 'a\n"b"' };
const sent = "one\n two ä\n";

/** An event whose body was read from a text. */
function read(): Event {
  const body = { said: "ONE\n TWO Ä\n", options: '{"a":1}' };
  keepText(body, { codec: "upper", options: '{"a":1}', text: sent });
  return { headers, body };
}

function textOf(event: Event, known: TextCodecs): string {
  const { head, rest } = textInParts(event, known);
  return head + rest;
}

const roundTrip = (event: Event, known = codecs) => eventOf(Buffer.from(textOf(event, known)), known);

test("the text that a body was read from is kept as it was sent, and read again", () => {
  const event = read();

  assert.equal(textOf(event, codecs), `{"headers":${JSON.stringify(headers)}}\n["upper",{"a":1}]\n${sent}`);
  assert.deepEqual(roundTrip(event), event);
});

test("an event with other headers keeps the text of its body, and has its own headers", () => {
  const { body } = read();
  const event = { headers: { ...headers, later: "x" }, body };

  assert.ok(textOf(event, codecs).endsWith(sent));
  assert.deepEqual(roundTrip(event), event);
});

test("another body in place of the one that was read is written itself", () => {
  const event = { headers, body: { ...Object(read().body), said: "changed" } };

  assert.equal(textOf(event, codecs), JSON.stringify(event));
  assert.deepEqual(roundTrip(event), event);
});

test("a text is nothing that a copy of its body has, or that is seen in it", () => {
  const event = read();
  const body = Object(event.body);

  assert.deepEqual(Reflect.ownKeys(body), ["said", "options"]);
  for (const copy of [{ ...body }, structuredClone(body), JSON.parse(JSON.stringify(body))])
    assert.equal(textOf({ headers, body: copy }, codecs), JSON.stringify({ headers, body: copy }));
});

test("what is no event is written as it is, whatever reads texts", () => {
  for (const nothing of [null, 7, "text", [1]])
    for (const known of [codecs, textCodecs()])
      assert.equal(textOf(JSON.parse(JSON.stringify(nothing)), known), JSON.stringify(nothing));
});

test("where nothing would read its text again, the body is written itself", () => {
  const event = read();

  assert.equal(textOf(event, textCodecs()), JSON.stringify(event));
  assert.equal(textOf(event, new Map([["other", upper]])), JSON.stringify(event));
});

const failing: TextCodec = {
  name: "upper",
  decode: () => {
    throw new Error("no longer");
  },
};

for (const [says, known] of [
  ["with an error", new Map([["upper", failing]])],
  ["because its codec is gone", textCodecs()],
] as const)
  test(`a text that can no longer be read, ${says}, is the body itself, so that it becomes a dead letter and is not lost`, () => {
    assert.deepEqual(eventOf(Buffer.from(textOf(read(), codecs)), known), { headers, body: sent });
  });

/** Never changed: agents have written such records. */
const writtenByVersion2 = [
  '{"headers":{"fiware-service":"s","sequence":"1"}}',
  '["ngsi-1",{"version":"auto","headers":{"content-type":"application/json","ngsild-attribute-format":"simplified"},"attrs_format":"auto"}]',
  '{"id":"urn:n","type":"Notification","data":[',
  ' {"id":"urn:r","type":"Room","t":21.50,"far":12345678901234567890}]}',
].join("\n");

test("a notification that an agent of version 2 of the format kept is read", () => {
  const known = new Map([[notificationCodec.name, notificationCodec]]);
  const attribute = (name: string, text: string) => ({
    name,
    form: "simplified",
    value: { kind: "number", text },
    members: [],
  });

  assert.deepEqual(eventOf(Buffer.from(writtenByVersion2), known), {
    headers: { "fiware-service": "s", sequence: "1" },
    body: {
      id: "urn:r",
      type: "Room",
      attributes: [attribute("t", "21.5"), attribute("far", "12345678901234567890")],
    },
  });
});
