import assert from "node:assert/strict";
import { test } from "node:test";
import { readLd } from "../../core/ngsi/decode-ld.js";
import { parseJson } from "../../core/ngsi/json.js";
import { scanLd } from "../../core/ngsi/scan-ld.js";
import { codeOf } from "../../core/sdk/index.js";
import { heapUsed } from "../support/heap-used.js";

const envelope = { id: "urn:n:1", type: "Notification", subscriptionId: "urn:s:1", notifiedAt: "2026-01-15T10:20:30Z" };
const entity = {
  id: "urn:e:1",
  type: "Device",
  "@context": ["https://example.org/context.jsonld"],
  temperature: { type: "Property", value: 21.5, unitCode: "CEL", observedAt: "2026-01-15T10:20:30.123Z", tags: ["a"] },
  pressure: { type: "Property", value: -0.25 },
  count: { type: "Property", value: 0 },
  on: { type: "Property", value: true },
  off: { type: "Property", value: false, object: "urn:x:1" },
  nothing: { type: "Property", value: null },
  name: { type: "Property", value: "Düne – 東" },
  empty: { type: "Property", value: "" },
  location: { type: "GeoProperty", value: { type: "Point", coordinates: [-8.61, 41.1579438] } },
  owner: { type: "Relationship", object: "urn:ngsi-ld:Owner:1" },
  label: { type: "LanguageProperty", languageMap: { de: "Düne", en: "dune" } },
  list: { type: "ListProperty", valueList: [1, [2, {}], []] },
};
const usual = JSON.stringify({ ...envelope, data: [entity, { ...entity, id: "urn:e:2", type: "Other" }] });

/** What the general way makes of a text, the refusal included. */
function read(text: string): unknown {
  try {
    return readLd(parseJson(text));
  } catch (error) {
    return codeOf(error);
  }
}

test("a normalized notification is read like in the general way", () => {
  assert.deepEqual(scanLd(usual), read(usual));
  assert.notEqual(scanLd(usual), undefined);
});

test("what one text was is not left in what the next one is", () => {
  const other = JSON.stringify({ data: [{ id: "urn:e:9", type: "Device", pressure: { type: "Property", value: 1 } }] });

  for (const text of [usual, other, usual, JSON.stringify({ ...envelope, data: [] }), other]) {
    assert.deepEqual(scanLd(text), read(text));
  }
});

test("ids, types and names that are remembered do not keep the texts they came with", () => {
  const text = (number: number) =>
    JSON.stringify({
      data: [
        {
          id: `urn:ngsi-ld:Device:${number}`,
          type: `DeviceOfType${number}`,
          [`attributeNumber${number}`]: { type: "Property", value: "x".repeat(50_000) },
        },
      ],
    });
  const before = heapUsed();

  const remembered = Array.from({ length: 2000 }, (_, number) => {
    const one = scanLd(text(number))?.entities[0];
    return [one?.id, one?.type, one?.attributes[0]?.name];
  });

  const kept = heapUsed() - before;
  assert.ok(kept < 10_000_000, `${kept} bytes kept`);
  assert.equal(remembered.at(-1)?.[1], "DeviceOfType1999");
});

test("a text above 64 KB is left to the general way, which keeps nothing of it", () => {
  const body = (length: number) =>
    `{"data":[{"id":"urn:e:1","type":"T","p":{"type":"Property","value":"${"x".repeat(length)}"}}]}`;

  assert.notEqual(scanLd(body(60_000)), undefined);
  assert.equal(scanLd(body(70_000)), undefined);
});

const values: Readonly<Record<string, string | undefined>> = {
  "23": "23",
  "23.0": "23",
  "0.10": "0.1",
  "-0": "0",
  "0.0000001": "1e-7",
  "123456789012345": "123456789012345",
  "1.23456789012345": "1.23456789012345",
  '"a"': "a",
  '{"b":[0.5,"c",null]}': '{"b":[0.5,"c",null]}',
  "1234567890123456": undefined,
  "1e2": undefined,
  "01": undefined,
  "-": undefined,
  "1.": undefined,
  ".5": undefined,
  "+1": undefined,
  NaN: undefined,
  tru: undefined,
  '"a\\u0041"': undefined,
  '"a\tb"': undefined,
  '{"b":1.0}': undefined,
  '{"b":1,"b":2}': undefined,
  '{"b":1,"1":2}': undefined,
  "[1,]": undefined,
  "[1 ]": undefined,
  [`${"[".repeat(40)}${"]".repeat(40)}`]: undefined,
};
for (const [value, text] of Object.entries(values))
  test(`the value ${value.slice(0, 30)} is ${text === undefined ? "left to the general way" : `read as ${text}`}`, () => {
    const body = `{"data":[{"id":"urn:e:1","type":"T","p":{"type":"Property","value":${value}}}]}`;
    const scanned = scanLd(body);

    assert.equal(scanned?.entities[0]?.attributes[0]?.value.text, text);
    if (scanned !== undefined) assert.deepEqual(scanned, read(body));
  });

const others: Readonly<Record<string, string>> = {
  "white space between tokens": '{"data": []}',
  "a line break at the end": '{"data":[]}\n',
  "something behind the end": '{"data":[]}]',
  "no data": '{"id":"urn:n:1"}',
  "data twice": '{"data":[],"data":[]}',
  "one entity that is in no list": '{"data":{"id":"urn:e:1","type":"T"}}',
  "a GeoJSON feature": '{"data":[{"id":"urn:e:1","type":"Feature","properties":{},"geometry":null}]}',
  "an entity without id": '{"data":[{"type":"T"}]}',
  "an entity with an empty type": '{"data":[{"id":"urn:e:1","type":""}]}',
  "several types": '{"data":[{"id":"urn:e:1","type":["A","B"]}]}',
  "an attribute twice":
    '{"data":[{"id":"urn:e:1","type":"T","p":{"type":"Property","value":1},"p":{"type":"Property","value":2}}]}',
  "a simplified attribute": '{"data":[{"id":"urn:e:1","type":"T","p":1}]}',
  "a concise attribute": '{"data":[{"id":"urn:e:1","type":"T","p":{"value":1}}]}',
  "a list of instances": '{"data":[{"id":"urn:e:1","type":"T","p":[{"type":"Property","value":1}]}]}',
  "a type that NGSI-LD does not know": '{"data":[{"id":"urn:e:1","type":"T","p":{"type":"Number","value":1}}]}',
  "a type behind the value": '{"data":[{"id":"urn:e:1","type":"T","p":{"value":1,"type":"Property"}}]}',
  "a type without value": '{"data":[{"id":"urn:e:1","type":"T","p":{"type":"Property"}}]}',
  "a sub-attribute":
    '{"data":[{"id":"urn:e:1","type":"T","p":{"type":"Property","value":1,"q":{"type":"Property","value":2}}}]}',
  "names that are numbers": '{"data":[{"id":"urn:e:1","type":"T","1":{"type":"Property","value":1}}]}',
};
for (const [name, text] of Object.entries(others))
  test(`a text with ${name} is left to the general way`, () => {
    assert.equal(scanLd(text), undefined);
  });

test("whatever is changed in a text, what is read is what the general way reads", () => {
  const random = randomBelow(20_261_121);
  const pieces = [
    '"',
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    " ",
    "\\",
    "\n",
    "0",
    "1",
    "-",
    ".",
    "e",
    "null",
    "type",
    '"id":"x",',
    '"value":1,',
    "Property",
  ];
  let scanned = 0;
  for (let round = 0; round < 20_000; round += 1) {
    const from = random(usual.length);
    const to = Math.min(usual.length, from + random(4));
    const text = usual.slice(0, from) + (random(3) === 0 ? "" : pieces[random(pieces.length)]) + usual.slice(to);
    const result = scanLd(text);
    if (result === undefined) continue;
    scanned += 1;
    assert.deepEqual(result, read(text), text);
  }
  assert.ok(scanned > 1000, `only ${scanned} of them were read`);
});

/** The same numbers at every run (Park and Miller). */
function randomBelow(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % limit;
  };
}
