import assert from "node:assert/strict";
import { test } from "node:test";
import { typedValues } from "../../../core/configuration/schema/typed-values.js";
import type { Property } from "../../../core/sdk/index.js";

type Rules = Omit<Property, "doc">;

const accepted: readonly { readonly rules: Rules; readonly text: string; readonly value: unknown }[] = [
  { rules: { format: "text" }, text: " as is ", value: " as is " },
  { rules: { format: "text" }, text: "[1]", value: "[1]" },
  { rules: { format: "text", maxLength: 2 }, text: "é😀", value: "é😀" },
  { rules: { format: "text", resource: "url" }, text: "http://h/{{entity.id}}", value: "http://h/{{entity.id}}" },
  { rules: { format: "text", resource: "url" }, text: "nats://a:1,b:2", value: "nats://a:1,b:2" },
  { rules: { format: "flag" }, text: "true", value: true },
  { rules: { format: "flag", default: true }, text: "false", value: false },
  { rules: { format: "count" }, text: "0", value: 0 },
  { rules: { format: "count", default: 7 }, text: "12", value: 12 },
  { rules: { format: "integer" }, text: "-1", value: -1 },
  { rules: { format: "port" }, text: "65535", value: 65_535 },
  { rules: { format: "millis" }, text: "2147483647", value: 2_147_483_647 },
  { rules: { format: "seconds", max: 9_999_999 }, text: "9999999", value: 9_999_999 },
  { rules: { format: "words" }, text: " a, b\tc ", value: ["a", "b", "c"] },
  { rules: { format: "millis-list" }, text: "5000, 10", value: [5000, 10] },
  { rules: { format: ["row", "column"] }, text: "row", value: "row" },
  { rules: { format: { listOf: ["a", "b"] } }, text: " b,a b ", value: ["b", "a", "b"] },
  { rules: { format: { listOf: ["a", "b"] } }, text: " ", value: [] },
];
for (const { rules, text, value } of accepted) {
  test(`${JSON.stringify(rules.format)} reads "${text}"`, () => {
    const { values, reasons } = typedValues(
      { "a.property": { doc: "Any.", ...rules } },
      new Map([["a.property", text]]),
    );

    assert.deepEqual([...reasons], []);
    assert.deepEqual(values.get("a.property"), value);
  });
}

const refused: readonly { readonly rules: Rules; readonly text: string; readonly reason: string }[] = [
  { rules: { format: { listOf: ["a", "b"] } }, text: "a B", reason: 'must be a list of: a, b; "B" is none of them' },
  { rules: { format: "text", maxLength: 2 }, text: "abc", reason: "must be at most 2 characters long, not 3" },
  ...["localhost:1883", "http//host", "https://", "http://a b/", "https://host:99999/"].map((text) => {
    return {
      rules: { format: "text", resource: "url" },
      text,
      reason: "must be a URL such as https://host:8443/path",
    } as const;
  }),
  { rules: { format: "flag", default: false }, text: "yes", reason: "must be exactly true or false" },
  { rules: { format: "flag" }, text: "TRUE", reason: "must be exactly true or false" },
  { rules: { format: "count", default: 1 }, text: "12abc", reason: "must be a whole number, 0 or more" },
  { rules: { format: "count", min: 1 }, text: "0", reason: "must be a whole number, 1 or more" },
  { rules: { format: "count" }, text: "1.0", reason: "must be a whole number, 0 or more" },
  { rules: { format: "count" }, text: "1e3", reason: "must be a whole number, 0 or more" },
  { rules: { format: "count" }, text: "0x10", reason: "must be a whole number, 0 or more" },
  {
    rules: { format: "count" },
    text: "99999999999999999999",
    reason: "must be a whole number from 0 to 9007199254740991",
  },
  {
    rules: { format: "integer" },
    text: "-99999999999999999999",
    reason: "must be a whole number, -9007199254740991 or more",
  },
  { rules: { format: "integer" }, text: "x", reason: "must be a whole number" },
  { rules: { format: "integer", max: 5 }, text: "6", reason: "must be a whole number, 5 or less" },
  { rules: { format: "integer", min: -1 }, text: "-2", reason: "must be a whole number, -1 or more" },
  { rules: { format: "port", min: 1 }, text: "70000", reason: "must be a whole number from 1 to 65535" },
  {
    rules: { format: "millis" },
    text: "2147483648",
    reason: "must be a whole number of milliseconds from 0 to 2147483647",
  },
  {
    rules: { format: "millis-list" },
    text: "5 x",
    reason: "must be a list of whole numbers of milliseconds from 1 to 2147483647",
  },
  {
    rules: { format: "millis-list" },
    text: "0",
    reason: "must be a list of whole numbers of milliseconds from 1 to 2147483647",
  },
  {
    rules: { format: "millis-list" },
    text: ",",
    reason: "must be a list of whole numbers of milliseconds from 1 to 2147483647",
  },
  { rules: { format: ["row", "column"] }, text: "Row", reason: "must be one of: row, column" },
];
for (const { rules, text, reason } of refused) {
  test(`${rules.format} refuses "${text}": ${reason}`, () => {
    const { values, reasons } = typedValues({ property: { doc: "Any.", ...rules } }, new Map([["property", text]]));

    assert.equal(reasons.get("property"), reason);
    assert.equal(values.has("property"), false);
  });
}

test("a default applies where nothing is given and is validated too", () => {
  const schema = {
    right: { doc: "Any.", format: "words", default: "a b" },
    wrong: { doc: "Any.", format: "port", default: 70_000 },
    required: { doc: "Any.", format: "text" },
    table: { doc: "Any.", format: "map", default: { a: "b" } },
  } as const;

  const { values, reasons } = typedValues(schema, new Map());

  assert.deepEqual(Object.fromEntries(values), { right: ["a", "b"], table: { a: "b" } });
  assert.deepEqual([...reasons.keys()], ["wrong"]);
});

test("neither the environment nor the arguments of the process reach a value", () => {
  const schema = { PATH: { doc: "Any.", format: "text", default: "mine", env: "PATH" } } as const;

  assert.equal(typedValues(schema, new Map()).values.get("PATH"), "mine");
});
