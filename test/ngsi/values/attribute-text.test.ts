import assert from "node:assert/strict";
import { test } from "node:test";
import type { Value } from "../../../core/ngsi/model.js";
import { attributeText, isoTime, memberText } from "../../../core/ngsi/values/entity-text.js";
import { codeOf } from "../../../core/sdk/index.js";

interface Case {
  readonly value: Value;
  readonly normalized: string | undefined;
  readonly simplified: string;
}

const cases: readonly Case[] = [
  { value: { kind: "string", text: 'it is "q"\n' }, normalized: 'it is "q"\n', simplified: '"it is \\"q\\"\\n"' },
  { value: { kind: "string", text: "" }, normalized: "", simplified: '""' },
  {
    value: { kind: "number", text: "9007199254740993" },
    normalized: "9007199254740993",
    simplified: "9007199254740993",
  },
  { value: { kind: "boolean", text: "true" }, normalized: "true", simplified: "true" },
  { value: { kind: "null", text: "null" }, normalized: undefined, simplified: "null" },
  { value: { kind: "object", text: '{"x":1}' }, normalized: '{"x":1}', simplified: '{"x":1}' },
  { value: { kind: "array", text: '["x"]' }, normalized: '["x"]', simplified: '["x"]' },
];
for (const { value, normalized, simplified } of cases) {
  test(`the ${value.kind} ${value.text} is stored as ${normalized} when normalized, ${simplified} when simplified`, () => {
    assert.equal(attributeText({ name: "a", form: "normalized", value, members: [] }), normalized);
    assert.equal(attributeText({ name: "a", form: "simplified", value, members: [] }), simplified);
    assert.equal(memberText({ name: "m", value }), normalized);
  });
}

const times = [
  { millis: 1589381181918, text: "2020-05-13T14:46:21.918Z" },
  { millis: 1589381181005, text: "2020-05-13T14:46:21.005Z" },
  { millis: 0, text: "1970-01-01T00:00:00.000Z" },
] as const;
for (const { millis, text } of times) {
  test(`the time ${millis} is written ${text}`, () => assert.equal(isoTime(millis), text));
}

test("a time that is no number is an error that names it", () => {
  assert.throws(
    () => isoTime(Number.NaN),
    (error: Error) => codeOf(error) === "INVALID_TIME" && error.message.includes('"NaN"'),
  );
});
