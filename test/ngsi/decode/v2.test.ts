import assert from "node:assert/strict";
import { test } from "node:test";
import { decode } from "../../../core/ngsi/decode/decode.js";
import type { AttrsFormat } from "../../../core/ngsi/headers.js";
import { codeOf } from "../../../core/sdk/index.js";
import { v2Of } from "./from-text.js";

const notified = (...data: readonly string[]) => `{"subscriptionId":"s1","data":[${data.join(",")}]}`;

test("a normalized entity keeps types, values and metadata in the order of the document", () => {
  const text = notified(
    '{"id":"car1","type":"car","speed":{"type":"float","value":112.90,"metadata":' +
      '{"unit":{"type":"Text","value":"km/h"},"accuracy":{"type":"Number","value":0.8}}},' +
      '"alterationType":{"type":"Text","value":"entityDelete","metadata":{}}}',
  );

  assert.deepEqual(v2Of(text), {
    subscriptionId: "s1",
    entities: [
      {
        id: "car1",
        type: "car",
        api: "v2",
        attributes: [
          {
            name: "speed",
            type: "float",
            form: "normalized",
            value: { kind: "number", text: "112.90" },
            members: [
              { name: "unit", type: "Text", value: { kind: "string", text: "km/h" } },
              { name: "accuracy", type: "Number", value: { kind: "number", text: "0.8" } },
            ],
          },
          {
            name: "alterationType",
            type: "Text",
            form: "normalized",
            value: { kind: "string", text: "entityDelete" },
            members: [],
          },
        ],
      },
    ],
  });
});

const numbers = ["23.0", "1e20", "1E-5", "-0", "0.50", "12345678901234567890", "0.0000001", "1.5"] as const;
for (const number of numbers) {
  test(`the number ${number} keeps its digits, alone and within a structured value`, () => {
    const [entity] = v2Of(notified(`{"id":"e","type":"T","n":${number},"o":{"a":[${number}]}}`)).entities;

    assert.deepEqual(
      entity?.attributes.map(({ value }) => value),
      [
        { kind: "number", text: number },
        { kind: "object", text: `{"a":[${number}]}` },
      ],
    );
  });
}

interface Reading {
  readonly json: string;
  readonly format: AttrsFormat | undefined;
  readonly type: string | undefined;
  readonly text: string;
}
const readings: readonly Reading[] = [
  { json: '{"type":"Text","value":"x"}', format: undefined, type: "Text", text: "x" },
  { json: '{"value":"x","metadata":{}}', format: undefined, type: undefined, text: "x" },
  { json: '{"value":"x"}', format: undefined, type: undefined, text: '{"value":"x"}' },
  { json: '{"value":"x"}', format: "normalized", type: undefined, text: "x" },
  { json: '{"type":"None","metadata":{}}', format: "normalized", type: "None", text: "null" },
  {
    json: '{"type":"Point","coordinates":[1,2]}',
    format: "normalized",
    type: undefined,
    text: '{"type":"Point","coordinates":[1,2]}',
  },
  { json: '{"type":"Text","value":"x"}', format: "keyValues", type: undefined, text: '{"type":"Text","value":"x"}' },
  { json: '{"type":5,"value":"x"}', format: "normalized", type: undefined, text: '{"type":5,"value":"x"}' },
  { json: "{}", format: "normalized", type: undefined, text: "{}" },
  { json: '"x"', format: "keyValues", type: undefined, text: "x" },
  { json: "null", format: "keyValues", type: undefined, text: "null" },
];
for (const { json, format, type, text } of readings) {
  test(`in the format ${format ?? "not told"}, ${json} is ${text} of type ${type}`, () => {
    const [entity] = v2Of(notified(`{"id":"e","type":"T","a":${json}}`), format).entities;

    const [attribute] = entity?.attributes ?? [];
    assert.equal(attribute?.type, type);
    assert.equal(attribute?.value.text, text);
    assert.equal(attribute?.form, "normalized");
  });
}

test("a simplified notification is the bare entity", () => {
  const { entities } = v2Of('{"id":"e","type":"T","a":1}', "simplifiedKeyValues");

  assert.deepEqual(
    entities.map(({ id, attributes }) => [id, attributes.length]),
    [["e", 1]],
  );
});

test("the bare entity of a simplified notification may have attributes named like the members of an envelope", () => {
  const names = ["data", "subscriptionId", "notifiedAt", "contextResponses"];
  for (const value of ['{"x":1}', "[1]", '"a"']) {
    const text = `{"id":"e","type":"T",${names.map((name) => `"${name}":${value}`).join(",")}}`;
    const headers = { "ngsiv2-attrsformat": "simplifiedKeyValues" };

    for (const version of ["v2", "auto"] as const) {
      const { subscriptionId, entities } = decode(version, text, headers);

      assert.equal(subscriptionId, undefined);
      assert.deepEqual(
        entities.map(({ id, api, attributes }) => [id, api, attributes.map(({ name }) => name)]),
        [["e", "v2", names]],
      );
    }
  }
});

test("an entity without a type has an empty one", () => {
  assert.equal(v2Of(notified('{"id":"e"}')).entities[0]?.type, "");
});

test("a notification without entities is one", () => assert.deepEqual(v2Of('{"data":[]}'), { entities: [] }));

const refusals: readonly { text: string; format?: AttrsFormat; says: RegExp }[] = [
  { text: "[1]", says: /the body is a list/ },
  { text: '{"subscriptionId":"s"}', says: /it has no "data"/ },
  { text: '{"id":"urn:n:1","type":"Notification"}', says: /it has no "data"/ },
  { text: '{"data":{}}', says: /"data" is an object, not a list of entities/ },
  { text: '{"data":[1]}', says: /data\[0\] is the number 1, not an entity/ },
  { text: '{"data":[{"type":"T"}]}', says: /"id" of data\[0\] is missing/ },
  { text: '{"data":[{"id":"e","type":["A"]}]}', says: /"type" of data\[0\] is a list, not a text/ },
  { text: '{"data":[["high"]]}', says: /format is values, which has no entity ids; set attrsFormat/ },
  { text: '{"data":[{"id":"e"}]}', format: "values", says: /format is values/ },
  { text: '{"contextResponses":[]}', says: /NGSI v1 notification; set ngsi_version of the handler to auto, or to v1/ },
];
for (const { text, format, says } of refusals) {
  test(`${text} is refused: ${says.source}`, () => {
    assert.throws(
      () => v2Of(text, format),
      (error: Error) => codeOf(error) === "NOT_A_NOTIFICATION" && says.test(error.message),
    );
  });
}

test("attributes and metadata with the names of members that every object has are kept, in their order", () => {
  const odd = '"__proto__":{"type":"T","value":1,"metadata":{"constructor":{"value":2},"__proto__":{"value":3}}}';
  const { entities } = v2Of(notified(`{"id":"e","type":"T",${odd},"toString":{"value":4,"metadata":{}}}`));

  assert.deepEqual(
    entities[0]?.attributes.map(({ name, members }) => [name, members.map((member) => member.name)]),
    [
      ["__proto__", ["constructor", "__proto__"]],
      ["toString", []],
    ],
  );
});
