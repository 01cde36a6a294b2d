import assert from "node:assert/strict";
import { test } from "node:test";
import { decode } from "../../../core/ngsi/decode/decode.js";
import { isObject, parseJson, propertyOf, toValue } from "../../../core/ngsi/values/json.js";
import { codeOf, retryableOf } from "../../../core/sdk/index.js";

const numbers = [
  { sent: "23.0", kept: "23" },
  { sent: "1.10", kept: "1.1" },
  { sent: "-8.5", kept: "-8.5" },
  { sent: "-0.0", kept: "0" },
  { sent: "1e20", kept: "100000000000000000000" },
  { sent: "1e-5", kept: "0.00001" },
  { sent: "1e0002", kept: "100" },
  { sent: "0e400", kept: "0" },
  { sent: "0.00000000000000000", kept: "0" },
  { sent: "1.0000000000000000000", kept: "1" },
  { sent: "-3.8037894999999997", kept: "-3.8037894999999997" },
  { sent: "12345678901234567890", kept: "12345678901234567890" },
  { sent: "-9007199254740993", kept: "-9007199254740993" },
  { sent: "1.000000000000000005", kept: "1.000000000000000005" },
  { sent: "1e400", kept: "1e400" },
  { sent: "1E-400", kept: "1E-400" },
] as const;
for (const { sent, kept } of numbers) {
  test(`the number ${sent} is kept as ${kept}, alone and within a structured value`, () => {
    const alone = toValue(parseJson(sent));
    const within = toValue(parseJson(`{"a":[${sent}, ${sent}],"b":${sent}}`));

    assert.deepEqual(alone, { kind: "number", text: kept });
    assert.deepEqual(within, { kind: "object", text: `{"a":[${kept},${kept}],"b":${kept}}` });
  });
}

const spellings = ["23.0", "1e2", "1E+5", "-0", "-0.0", "0.0000001", "0.10", "1e400", "12345678901234567890", "10"];
for (const spelling of spellings) {
  test(`the number ${spelling} is kept as sent where that counts, between any white space`, () => {
    for (const text of [spelling, `[${spelling}]`, `{"a":${spelling},"b":1}`, `{ "a" : [ 7, ${spelling}\n ] }`]) {
      const kept = toValue(parseJson(text, "sent")).text;

      assert.equal(kept, text.replaceAll(/\s/g, ""));
    }
  });
}

const values = [
  { sent: '"a \\"b\\" \\\\ \\u00e9 \\ud83d\\ude00"', kind: "string", text: 'a "b" \\ é 😀' },
  { sent: '""', kind: "string", text: "" },
  { sent: "true", kind: "boolean", text: "true" },
  { sent: "null", kind: "null", text: "null" },
  { sent: '[ 1, "x" ]', kind: "array", text: '[1,"x"]' },
  { sent: '{ "b": 1, "a": null }', kind: "object", text: '{"b":1,"a":null}' },
  { sent: '{"a":1,"a":2}', kind: "object", text: '{"a":2}' },
  { sent: '{"a":1,"a":12345678901234567890}', kind: "object", text: '{"a":12345678901234567890}' },
  {
    sent: '["\\\\ud800 \\"\\\\ud8001\\"",12345678901234567890]',
    kind: "array",
    text: '["\\\\ud800 \\"\\\\ud8001\\"",12345678901234567890]',
  },
  { sent: '[", 1e400 ,",1e400]', kind: "array", text: '[", 1e400 ,",1e400]' },
  { sent: '["\\\\\\"12345678901234567890"]', kind: "array", text: '["\\\\\\"12345678901234567890"]' },
] as const;
for (const { sent, kind, text } of values) {
  test(`the JSON ${sent} is the ${kind} ${text}`, () => assert.deepEqual(toValue(parseJson(sent)), { kind, text }));
}

for (const digits of ["1", "12345678901234567890"]) {
  test(`names that mean something in JavaScript are names like any other beside the number ${digits}`, () => {
    const text = `{"7":${digits},"__proto__":{"a":1},"constructor":2,"toJSON":3}`;

    const json = parseJson(text);

    assert.ok(isObject(json));
    assert.deepEqual(Object.keys(json), ["7", "__proto__", "constructor", "toJSON"]);
    assert.equal(toValue(json).text, text);
    assert.equal(Object.getPrototypeOf(json), Object.prototype);
  });
}

test("a text that begins with U+10000 stays a text beside a number that keeps its digits", () => {
  const json = parseJson('{"a":"\u{10000}","b":1e400}');

  assert.ok(isObject(json));
  assert.deepEqual(toValue(json.a ?? null), { kind: "string", text: "\u{10000}" });
});

const halves = [
  { what: "in a value", sent: '["\\ud800 1",12345678901234567890]', kept: '["\ufffd 1",12345678901234567890]' },
  { what: "in a name", sent: '{"a":{"\\uDE00":1}}', kept: '{"a":{"\ufffd":1}}' },
  { what: "before a whole pair", sent: '["\\uD83d\\ud83D\\ude00"]', kept: '["\ufffd😀"]' },
  { what: "in the wrong order", sent: '["\\ude00\\ud83d"]', kept: '["\ufffd\ufffd"]' },
  { what: "before another escape", sent: '["\\ud83d\\n\\ud83d\\u0041"]', kept: '["\ufffd\\n\ufffdA"]' },
  {
    what: "behind one that an escaped backslash only resembles",
    sent: '["\\\\ud83d\\ude00"]',
    kept: '["\\\\ud83d\ufffd"]',
  },
  { what: "behind an escaped backslash", sent: '["\\\\\\ud800"]', kept: '["\\\\\ufffd"]' },
  { what: "that is none, behind a backslash", sent: '["\\\\ud800"]', kept: '["\\\\ud800"]' },
  { what: "disguised as an exact number", sent: '["\\ud8001",1e400]', kept: '["\ufffd1",1e400]' },
] as const;
for (const { what, sent, kept } of halves) {
  test(`half of a surrogate pair ${what} becomes U+FFFD`, () => assert.equal(toValue(parseJson(sent)).text, kept));
}

const nested = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);
const refused = [
  { what: "an empty body", text: "" },
  { what: "a missing value", text: '{"a":}' },
  { what: "something after the end", text: "{} {}" },
  { what: "a string without an end beside a long number", text: '{"a":12345678901234567890,"b":"x' },
  { what: "a long number as a name", text: '{"a":1e400, 12345678901234567890 :1}' },
  { what: "a long number that begins with zero", text: "[-012345678901234567890]" },
  { what: "a long number with two points", text: "[1e400,1.2345678901234567890.1]" },
  { what: "nesting of 513 levels", text: nested(513) },
  { what: "nesting of a million levels", text: nested(1_000_000) },
  { what: "nesting without an end", text: "[".repeat(1_000_000) },
] as const;
for (const { what, text } of refused) {
  test(`${what} is refused with a short reason and not retried`, () => {
    assert.throws(
      () => parseJson(text),
      (error: Error) => {
        assert.equal(codeOf(error), "MALFORMED_JSON");
        assert.equal(retryableOf(error), false);
        assert.match(error.message, /^parsing the body as JSON: /);
        return error.message.length < 200;
      },
    );
  });
}

test("the reason for refusing a text is the same with and without a long number in it", () => {
  for (const text of ['{"a":1e400,"b":}', "[12345678901234567890,]", '["\\u00zz",1e400]']) {
    assert.throws(
      () => parseJson(text),
      (error: Error) => error.message === `parsing the body as JSON: ${reasonOf(text)}`,
    );
  }
});

function reasonOf(text: string): string {
  try {
    JSON.parse(text);
  } catch (error) {
    return error instanceof Error ? error.message : "";
  }
  return "";
}

test("a number above the limit is refused wherever it stands, but not in a text, and not where the JSON is wrong", () => {
  const limits = { max_depth: 8, max_number_length: 40 };
  const long = "1".repeat(41);

  assert.equal(codeOf(thrownBy(`{"a":"${long}","b":[ -0.${long} ]}`)), "LIMIT_EXCEEDED");
  assert.equal(codeOf(thrownBy(`{"a":1.${"0".repeat(40)}}`)), "LIMIT_EXCEEDED");
  assert.equal(codeOf(thrownBy(`{"a":${long},}`)), "MALFORMED_JSON");
  assert.equal(thrownBy(`{"a":": ${long} ,"}`), undefined);

  function thrownBy(text: string): unknown {
    try {
      parseJson(text, "precise", limits);
    } catch (error) {
      return error;
    }
    return undefined;
  }
});

const accepted = [
  { what: "a byte order mark", text: "\ufeff[1]" },
  { what: "nesting of 512 levels", text: nested(512) },
  { what: "brackets by the thousand behind an escaped quote", text: `["\\"${"[".repeat(5000)}"]` },
  { what: "brackets by the thousand in a string", text: `["${"[".repeat(5000)}\\"]"]` },
  {
    what: "a long string of escapes beside a long number",
    text: `[12345678901234567890,"${"\\n".repeat(2_000_000)}"]`,
  },
] as const;
for (const { what, text } of accepted) {
  test(`${what} is no fault`, () => assert.equal(toValue(parseJson(text)).text, text.replace("\ufeff", "")));
}

test("a number with many digits keeps them wherever it stands, and digits in a text do no harm", () => {
  for (let before = 0; before < 40; before += 1) {
    const text = `{"a":"${"x".repeat(before)}9999999999999999","b":[-1234567890123456789]}`;

    assert.equal(toValue(parseJson(text)).text, text);
  }
});

test("an attribute that is made of a name and a value is like one of a notification", () => {
  const notification = (value: unknown) => ({
    data: [{ id: "urn:ngsi-ld:Room:1", type: "Room", made: { type: "Property", value } }],
  });

  for (const value of [21.5, "warm", true, [1, 2], { a: "b" }]) {
    const [entity] = decode("ld", JSON.stringify(notification(value)), {}).entities;

    assert.deepEqual([propertyOf("made", value)], entity?.attributes);
  }
  assert.deepEqual(propertyOf("made", Number.NaN).value, { kind: "null", text: "null" });
});
