import assert from "node:assert/strict";
import { test } from "node:test";
import { metadataText } from "../../../core/ngsi/values/metadata-text.js";

test("no metadata is an empty list", () => assert.equal(metadataText([]), "[]"));

test("plain values of metadata are written as texts, structured ones as they are", () => {
  const text = metadataText([
    { name: "accuracy", type: "Number", value: { kind: "number", text: "0.80" } },
    { name: 'q"', type: "Text", value: { kind: "string", text: 'a"b' } },
    { name: "none", value: { kind: "null", text: "null" } },
    { name: "o", type: "StructuredValue", value: { kind: "object", text: '{"a":1.0}' } },
  ]);

  assert.equal(
    text,
    '[{"name":"accuracy","type":"Number","value":"0.80"},{"name":"q\\"","type":"Text","value":"a\\"b"},' +
      '{"name":"none","type":"","value":"null"},{"name":"o","type":"StructuredValue","value":{"a":1.0}}]',
  );
});

test("names, types and values of every kind of character are JSON again, also of a name that comes with another type", () => {
  const odd = [
    "plain",
    'quote " in it',
    "back\\slash",
    "line\nbreak",
    "\u0000",
    "ä",
    "😀",
    "\ud800",
    "",
    "[ ! # ~ ]",
    "\u007f",
  ];
  const items = odd.flatMap((text, at) => [
    { name: "same", type: text, value: { kind: "string" as const, text } },
    { name: text, type: `t${at}`, value: { kind: "string" as const, text: `${text}${text}` } },
  ]);

  const [once, again] = [metadataText(items), metadataText(items)];

  assert.equal(once, JSON.stringify(items.map(({ name, type, value }) => ({ name, type, value: value.text }))));
  assert.equal(again, once);
});
