import assert from "node:assert/strict";
import { test } from "node:test";
import { contentOf, faultyField } from "../../../plugins/mqtt-source/envelope.js";

const read = (text: string) => {
  const { body, fields } = contentOf(Buffer.from(text));
  return { body: Buffer.from(body).toString(), fields };
};

const body = '{"data":[{"id":"a","type":"T","n":1.10,"big":12345678901234567890}]}';
const fields = { "ngsild-tenant": "farm", link: "<urn:c>" };
const envelopes = [
  { what: "an object", metadata: '{"NGSILD-Tenant":"farm","Link":"<urn:c>"}' },
  { what: "an object of lists", metadata: '{"NGSILD-Tenant":["farm"],"Link":["<urn:c>"]}' },
  { what: "a list of objects of one", metadata: '[{"NGSILD-Tenant":"farm"},{"Link":"<urn:c>"}]' },
  {
    what: "a list of key and value",
    metadata: '[{"key":"NGSILD-Tenant","value":"farm"},{"key":"Link","value":"<urn:c>"}]',
  },
  {
    what: "a list of name and value",
    metadata: '[{"name":"NGSILD-Tenant","value":"farm"},{"name":"Link","value":"<urn:c>"}]',
  },
  { what: "a list of pairs", metadata: '[["NGSILD-Tenant","farm"],["Link","<urn:c>"]]' },
  { what: "a list of lines", metadata: '["NGSILD-Tenant: farm","Link: <urn:c>"]' },
  { what: "the text of an object", metadata: '"{\\"NGSILD-Tenant\\":\\"farm\\",\\"Link\\":\\"<urn:c>\\"}"' },
  {
    what: "with members that say nothing",
    metadata: '[{"NGSILD-Tenant":"farm","Link":"<urn:c>","a":null,"b":{}},7,null]',
  },
] as const;
for (const { what, metadata } of envelopes) {
  test(`the fields of metadata that are ${what} come with the body`, () =>
    assert.deepEqual(read(`{"metadata":${metadata},"body":${body}}`), { body, fields }));
}

test("the body keeps the digits of its numbers, also where it is a text, and metadata may be absent", () => {
  assert.deepEqual(read(`{\n "body" : ${body}\n}`), { body, fields: {} });
  assert.deepEqual(read(`{"metadata":{},"body":${JSON.stringify(body)}}`), { body, fields: {} });
});

test("several values of one field are joined, and a value may be a number", () => {
  const metadata = '[{"Fiware-ServicePath":"/a"},{"fiware-servicepath":"/b"},{"n":[1,2.50]}]';

  assert.deepEqual(read(`{"metadata":${metadata},"body":1}`).fields, { "fiware-servicepath": "/a,/b", n: "1,2.50" });
});

const others = [
  body,
  '{"subscriptionId":"s","data":[{"id":"a","type":"T","body":{"type":"Text","value":"x","metadata":{}}}]}',
  '{"id":"a","type":"T","body":{"value":1}}',
  '{"contextResponses":[],"body":{}}',
  '["body"]',
  '"body"',
  '{"body":',
  '{"Body":{}}',
  "",
];
for (const text of others) {
  test(`the message '${text}' is passed on as it is`, () => assert.deepEqual(read(text), { body: text, fields: {} }));
}

test("bytes that are not text are passed on as they are", () => {
  const bytes = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('{"body":1}')]);

  assert.deepEqual(contentOf(bytes), { body: bytes, fields: {} });
});

test("a field with a control character is found by its name", () => {
  const with_ = (value: string) => contentOf(Buffer.from(`{"metadata":{"A":"x","B":${value}},"body":{}}`));

  assert.equal(faultyField(with_('"a\\u0000b"')), "b");
  assert.equal(faultyField(with_('"a\\r\\nX: y"')), "b");
  assert.equal(faultyField(with_('"a\\tb ñ 市"')), undefined);
});

test("metadata without end in depth or length is no danger", () => {
  const deep = `${"[".repeat(500)}${"]".repeat(500)}`;
  const long = `[${Array.from({ length: 100_000 }, (_, index) => `{"a${index}":"${index}"}`).join(",")}]`;

  assert.deepEqual(read(`{"metadata":${deep},"body":${body}}`), { body, fields: {} });
  assert.equal(Object.keys(read(`{"metadata":${long},"body":${body}}`).fields).length, 100_000);
});

test("an envelope that is not UTF-8 stays as it came, for the handler to refuse", () => {
  const payload = Buffer.from('{"metadata":{},"body":{"data":[{"id":"caf\u00e9","type":"T"}]}}', "latin1");

  assert.deepEqual(contentOf(payload), { body: payload, fields: {} });
});
