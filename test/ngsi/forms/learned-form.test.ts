import assert from "node:assert/strict";
import { test } from "node:test";
import { learnedForm } from "../../../core/ngsi/forms/learned-form.js";
import { type Leaf, leavesOf, withLeaves } from "../../../core/ngsi/forms/leaves.js";
import { decode, type NgsiVersion, type Notification } from "../../../core/ngsi/index.js";
import { decodeForms } from "../../bench/decode-forms.js";

const limits = {
  max_name_length: 2048,
  max_attributes: 10_000,
  max_entities: 50_000,
  max_depth: 512,
  max_number_length: 1000,
};
const MOST_IN_A_TEXT = 20_000;
const CHANGES = 60;

const numbers =
  "0 -0 1 -1 23.0 1e5 1E-7 0.0000001 0.001 0.0001 -8.610000000000001 12345678901234567890 1.50 9007199254740993 1e400 1234.5678901234 0.00 1.0e2 1764000000000 123456789012345 1234567890123456 01 1. .5 - 1.2.3".split(
    " ",
  );
const texts = [
  ..."a é 世界 🌍 null } @none Feature Point urn:a:b 2020-01-01T00:00:00Z __proto__ 5fa2b6c7d8e9f0a1b2c3d4e5".split(
    " ",
  ),
  "",
  "two words",
  '\\"quoted\\"',
  "line\\nbreak",
  "tab\there",
  '","x":"',
  "\\ud800",
  "\u2028",
  "x".repeat(300),
];

/** With options of its own, so that it knows no form. */
function decodeAnew(version: NgsiVersion, text: string, headers: Record<string, string>): Notification {
  return decode(version, text, headers, { ...limits });
}

/** Numbers from 0 to 1 that are the same in each run. */
function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

const bodies = decodeForms().flatMap(({ name, version, headers, bodies: [body = ""] }) =>
  body.length > MOST_IN_A_TEXT ? [] : [{ name, version, headers, body }],
);
const geoJson =
  '{"type":"Notification","data":[{"id":"urn:a","type":"Feature","properties":{"type":"Room","t":{"type":"Property","value":1},"place":{"type":"GeoProperty","value":{"type":"Point","coordinates":[1,2]}}},"geometry":{"type":"Point","coordinates":[1,2]}}]}';
const instances =
  '{"type":"Notification","data":[{"id":"urn:a","type":"Car","speed":[{"type":"Property","value":55,"datasetId":"urn:b","observedAt":"2026-01-01T00:00:00Z"},{"type":"Property","value":56,"datasetId":"urn:c","by":{"type":"Property","value":"x","unit":{"type":"Property","value":1}}}]}]}';
const doubled =
  '{"data":[{"id":"urn:a","id":"urn:b","type":"T","t":{"type":"Property","value":1,"value":{"b":1,"2":"x","b":3,"1":4}}}]}';
const all: readonly { name: string; version: NgsiVersion; headers: Record<string, string>; body: string }[] = [
  ...bodies.map((one) => ({ ...one, headers: { ...one.headers } })),
  ...[geoJson, instances, doubled].flatMap((body, index) =>
    (["ld", "auto"] as const).map((version) => ({ name: `special ${index} ${version}`, version, headers: {}, body })),
  ),
];

test("a form reads what it reads as it is read by itself, for each form of broker and any texts and numbers", () => {
  let learned = 0;
  let read = 0;
  for (const { name, version, headers, body } of all) {
    const anew = (text: string) => decodeAnew(version, text, headers);
    const form = learnedForm(body, anew);
    if (form === undefined) continue;
    learned += 1;
    const leaves = leavesOf(body) ?? [];
    for (const text of changed(body, leaves)) {
      const notification = readOrNot(() => form.read(text, limits.max_name_length, { of: (id) => id }));
      if (notification === undefined) continue;
      read += 1;
      assert.deepEqual(notification, anew(text), `${name}: ${text}`);
    }
  }
  assert.ok(learned > 20 && read > 400, `${learned} forms learned, ${read} texts read`);
});

function readOrNot(read: () => Notification | undefined): Notification | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** The text with other leaves, and with damage anywhere. */
function* changed(text: string, leaves: readonly Leaf[]): Generator<string> {
  const next = chance(text.length);
  const one = (list: readonly string[]) => list[Math.floor(next() * list.length)] ?? "";
  yield text;
  for (let at = 0; at < CHANGES; at += 1) {
    const share = next() ** 3;
    yield withLeaves(text, leaves, ({ start, end, isNumber }) =>
      next() < share ? one(isNumber ? numbers : texts) : text.slice(start, end),
    );
    const place = Math.floor(next() * text.length);
    yield text.slice(0, place) + one(["", '"', "0", " ", ",", "\\", "a"]) + text.slice(place + Math.round(next()));
  }
}

test("numbers have the digits of their precise value in NGSI-LD, and those that were sent in NGSI v2", () => {
  const textsOf = (version: "ld" | "v2", type: string) => {
    const body = (number: string) =>
      `{"data":[{"id":"a","type":"T","t":{"type":"${type}","value":${number}},"l":{"type":"${type}","value":{"in":[${number}]}}}]}`;
    const form = learnedForm(body("1.5"), (text) => decodeAnew(version, text, {}));
    const notification = form?.read(body("23.0"), 99, { of: (id) => id });
    return notification?.entities[0]?.attributes.map(({ value }) => value.text);
  };

  assert.deepEqual(textsOf("ld", "Property"), ["23", '{"in":[23]}']);
  assert.deepEqual(textsOf("v2", "Thing"), ["23.0", '{"in":[23.0]}']);
});

test("a text whose strings have escaped characters has no form, nor one with the characters that mark leaves", () => {
  const read = (text: string) => decodeAnew("ld", text, {});
  const withValue = (json: string) => `{"data":[{"id":"a","type":"T","t":{"type":"Property","value":${json}}}]}`;

  assert.equal(learnedForm(withValue('"a\\n"'), read), undefined);
  assert.equal(learnedForm(withValue('"\x7f0000"'), read), undefined);
  assert.equal(learnedForm(withValue("900000000000000"), read), undefined);
  assert.notEqual(learnedForm(withValue('"a"'), read), undefined);
});

test("a member that decides how a notification is read does so also where its name has escaped characters", () => {
  const read = (text: string) => decodeAnew("ld", text, {});
  const speeds = (first: string, second: string) =>
    `{"data":[{"id":"a","type":"Car","speed":[{"type":"Property","value":1,"dat\\u0061setId":"${first}"},{"type":"Property","value":2,"dat\\u0061setId":"${second}"}]}]}`;
  const bare = (type: string) =>
    `{"type":"Notification","data":[{"id":"a","type":"T","t":{"typ\\u0065":"${type}","value":1}}]}`;

  const readByForm = (learned: string, other: string) =>
    learnedForm(learned, read)?.read(other, 99, { of: (id) => id }) ?? read(other);

  for (const [learned, other] of [
    [speeds("urn:a", "urn:b"), speeds("urn:d", "urn:c")],
    [bare("Thing"), bare("Property")],
  ] as const)
    assert.deepEqual(readByForm(learned, other), read(other));
});

test("a text whose names have escaped characters has a form", () => {
  const read = (text: string) => decodeAnew("ld", text, {});
  const body = (value: string) =>
    `{"data":[{"id":"a","type":"T","gr\\u00f6sse":{"type":"Property","value":${value}}}]}`;

  const form = learnedForm(body("1"), read);

  assert.deepEqual(form?.read(body("2"), 99, { of: (id) => id }), read(body("2")));
});
