import assert from "node:assert/strict";
import { test } from "node:test";
import { codeOf } from "../../../core/sdk/index.js";
import { ldOf } from "./from-text.js";

const notification = (data: unknown): string =>
  JSON.stringify({ id: "urn:ngsi-ld:Notification:1", type: "Notification", subscriptionId: "urn:s", data });

test("each element of data is an entity with its attributes in the order of the document", () => {
  const room = {
    "@context": ["https://example.org/context.jsonld"],
    id: "urn:ngsi-ld:Room:1",
    type: "Room",
    b: 2,
    a: 1,
  };

  const { subscriptionId, entities } = ldOf(notification([room, room, { id: "urn:x", type: "T" }]));

  assert.equal(subscriptionId, "urn:s");
  assert.deepEqual(
    entities.map(({ id, type, attributes }) => [id, type, attributes.map(({ name }) => name)]),
    [
      ["urn:ngsi-ld:Room:1", "Room", ["b", "a"]],
      ["urn:ngsi-ld:Room:1", "Room", ["b", "a"]],
      ["urn:x", "T", []],
    ],
  );
});

test("every other member of an entity is an attribute: a plain one if NGSI-LD defines it, else a simplified one", () => {
  const members = { deletedAt: "2026-01-15T10:20:30Z", scope: ["/a"], other: "x" };
  const text = notification([{ id: "urn:x", type: "T", ...members }]);

  const { entities } = ldOf(text);

  assert.deepEqual(entities[0]?.attributes, [
    { name: "deletedAt", form: "plain", value: { kind: "string", text: "2026-01-15T10:20:30Z" }, members: [] },
    { name: "scope", form: "plain", value: { kind: "array", text: '["/a"]' }, members: [] },
    { name: "other", form: "simplified", value: { kind: "string", text: "x" }, members: [] },
  ]);
});

const envelopes = [
  { what: "no entity", text: notification([]), types: [] },
  { what: "one entity outside a list", text: notification({ id: "urn:x", type: "T" }), types: ["T"] },
  { what: "an entity of several types", text: notification([{ id: "urn:x", type: ["A", "B"] }]), types: ["[A,B]"] },
  {
    what: "an entity named like a prototype",
    text: '{"data":[{"id":"__proto__","type":"constructor"}]}',
    types: ["constructor"],
  },
] as const;
for (const { what, text, types } of envelopes) {
  test(`a notification may hold ${what}`, () => {
    assert.deepEqual(
      ldOf(text).entities.map(({ type }) => type),
      types,
    );
  });
}

test("the subscription may be absent", () => assert.deepEqual(ldOf('{"data":[]}'), { entities: [] }));

test("an NGSI v2 body is read as simplified attributes", () => {
  const a = { type: "Number", value: 1, metadata: {} };

  const { entities } = ldOf(notification([{ id: "Room1", type: "Room", a }]));

  assert.deepEqual(entities[0]?.attributes, [
    { name: "a", form: "simplified", value: { kind: "object", text: JSON.stringify(a) }, members: [] },
  ]);
});

const refused = [
  { text: "5", reason: "the body is the number 5, not a JSON object" },
  { text: "null", reason: "the body is null, not a JSON object" },
  { text: "[]", reason: "the body is a list, not a JSON object" },
  { text: "12345678901234567890", reason: "the body is the number 12345678901234567890, not a JSON object" },
  { text: "{}", reason: 'it has no "data"' },
  {
    text: '{"contextResponses":[]}',
    reason: "it is an NGSI v1 notification; set ngsi_version of the handler to auto, or to v1",
  },
  { text: '{"data":null}', reason: '"data" is null, not a list of entities' },
  { text: '{"data":"x"}', reason: '"data" is "x", not a list of entities' },
  { text: '{"data":[[]]}', reason: "data[0] is a list, not an entity" },
  {
    text: '{"data":[{"id":"a","type":"T"},{"type":"T"}]}',
    reason: '"id" of data[1] is missing, not a text with at least one character',
  },
  { text: '{"data":{"id":5}}', reason: '"id" of data[0] is the number 5, not a text with at least one character' },
  {
    text: '{"data":[{"id":12345678901234567890}]}',
    reason: '"id" of data[0] is the number 12345678901234567890, not a text with at least one character',
  },
  { text: '{"data":{"id":null}}', reason: '"id" of data[0] is null, not a text with at least one character' },
  { text: '{"data":{"id":true}}', reason: '"id" of data[0] is true, not a text with at least one character' },
  { text: '{"data":[{"id":"","type":"T"}]}', reason: '"id" of data[0] is "", not a text with at least one character' },
  {
    text: '{"data":[{"id":"a","type":[]}]}',
    reason: '"type" of data[0] is a list, not a text with at least one character or a list of such',
  },
  {
    text: '{"data":[{"id":"a","type":["A",1]}]}',
    reason: '"type" of data[0] is a list, not a text with at least one character or a list of such',
  },
] as const;
for (const { text, reason } of refused) {
  test(`the body ${text} is refused: ${reason}`, () => {
    assert.throws(
      () => ldOf(text),
      (error: Error) => {
        assert.equal(codeOf(error), "NOT_A_NOTIFICATION");
        assert.equal(error.message, `reading the body as an NGSI-LD notification: ${reason}`);
        return true;
      },
    );
  });
}
