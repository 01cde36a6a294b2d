import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeLdAttribute } from "../../../core/ngsi/decode/ld-attribute.js";
import type { AttributeFormat } from "../../../core/ngsi/headers.js";
import { attributeText, memberText, othersJson, subMembersJson } from "../../../core/ngsi/values/entity-text.js";
import { parseJson } from "../../../core/ngsi/values/json.js";

interface Read {
  /** Type and text of the attribute; no type when it is simplified. */
  readonly type?: string;
  readonly text?: string;
  /** Type and text of each member, separated by a blank; only the text when the member has no type. */
  readonly members?: Readonly<Record<string, string | undefined>>;
}

function read(text: string, format?: AttributeFormat): Read {
  const attribute = decodeLdAttribute("a", parseJson(text), format);
  const members = attribute.members.map((member) => {
    const shown = memberText(member);
    return [member.name, member.type === undefined ? shown : `${member.type} ${shown}`] as const;
  });
  const stored = attributeText(attribute);
  return {
    ...(attribute.type === undefined ? {} : { type: attribute.type }),
    ...(stored === undefined ? {} : { text: stored }),
    ...(members.length === 0 ? {} : { members: Object.fromEntries(members) }),
  };
}

const typed: readonly (readonly [json: string, expected: Read])[] = [
  ['{"type":"Property","value":"Downtown One"}', { type: "Property", text: "Downtown One" }],
  ['{"type":"Property","value":23.0}', { type: "Property", text: "23" }],
  ['{"type":"Property","value":null}', { type: "Property" }],
  ['{"type":"Property"}', { type: "Property" }],
  ['{"type":"Property","value":["x"]}', { type: "Property", text: '["x"]' }],
  ['{"type":"Property","value":"urn:ngsi-ld:null"}', { type: "Property", text: "urn:ngsi-ld:null" }],
  ['{"type":"Relationship","object":"urn:b"}', { type: "Relationship", text: "urn:b" }],
  ['{"type":"Relationship","object":["urn:b","urn:c"]}', { type: "Relationship", text: '["urn:b","urn:c"]' }],
  ['{"type":"Relationship","value":"urn:b"}', { type: "Relationship", text: "urn:b" }],
  [
    '{"type":"GeoProperty","value":{"type":"Point","coordinates":[-8.5,41.2]}}',
    { type: "GeoProperty", text: '{"type":"Point","coordinates":[-8.5,41.2]}' },
  ],
  ['{"type":"LanguageProperty","languageMap":{"en":"Hi"}}', { type: "LanguageProperty", text: '{"en":"Hi"}' }],
  ['{"type":"VocabProperty","vocab":"sensor"}', { type: "VocabProperty", text: "sensor" }],
  ['{"type":"JsonProperty","json":{"x":[1]}}', { type: "JsonProperty", text: '{"x":[1]}' }],
  ['{"type":"JsonProperty","json":12}', { type: "JsonProperty", text: "12" }],
  ['{"type":"JsonProperty","json":"12"}', { type: "JsonProperty", text: '"12"' }],
  ['{"type":"JsonProperty","json":null}', { type: "JsonProperty" }],
  ['{"type":"JsonProperty","json":"urn:ngsi-ld:null"}', { type: "JsonProperty", text: "urn:ngsi-ld:null" }],
  [
    '{"type":"Property","value":1,"s":{"type":"JsonProperty","json":"x"}}',
    { type: "Property", text: "1", members: { s: 'JsonProperty "x"' } },
  ],
  ['{"type":"ListProperty","valueList":[1,2]}', { type: "ListProperty", text: "[1,2]" }],
  ['{"type":"ListRelationship","objectList":["urn:b"]}', { type: "ListRelationship", text: '["urn:b"]' }],
  ['{"type":"https://uri.etsi.org/ngsi-ld/Property","value":1}', { type: "Property", text: "1" }],
  [
    '{"value":1,"observedAt":"2020-01-01T00:00:00.000Z","type":"Property","unitCode":"CEL","datasetId":"urn:d:1"}',
    {
      type: "Property",
      text: "1",
      members: { observedAt: "2020-01-01T00:00:00.000Z", unitCode: "CEL", datasetId: "urn:d:1" },
    },
  ],
  [
    '{"type":"Property","value":1,"s":{"type":"GeoProperty","value":{"type":"Point","coordinates":[1,2]}},"u":{"type":"Property","value":true,"observedAt":"2020-01-01T00:00:00Z"}}',
    {
      type: "Property",
      text: "1",
      members: { s: 'GeoProperty {"type":"Point","coordinates":[1,2]}', u: "Property true" },
    },
  ],
  [
    '{"type":"Property","value":1,"by":{"object":"urn:p"},"n":{"type":"Property","value":null},"p":null,"l":[1],"o":{"x":1}}',
    {
      type: "Property",
      text: "1",
      members: { by: "Relationship urn:p", n: "Property undefined", p: undefined, l: "[1]", o: '{"x":1}' },
    },
  ],
  [
    '{"type":"Relationship","object":"urn:b","objectType":"City","entity":{"id":"urn:b","type":"City"}}',
    { type: "Relationship", text: "urn:b", members: { objectType: "City", entity: '{"id":"urn:b","type":"City"}' } },
  ],
];
for (const [json, expected] of typed) {
  for (const format of [undefined, "simplified"] as const) {
    test(`${json} is a ${expected.type}, hint ${format}`, () => assert.deepEqual(read(json, format), expected));
  }
}

const concise: readonly (readonly [json: string, expected: Read])[] = [
  ['{"value":1}', { type: "Property", text: "1" }],
  ['{"value":"x","unitCode":"5K"}', { type: "Property", text: "x", members: { unitCode: "5K" } }],
  ['{"value":{"type":"Point","coordinates":[1]}}', { type: "GeoProperty", text: '{"type":"Point","coordinates":[1]}' }],
  ['{"object":"urn:b","s":{"value":2}}', { type: "Relationship", text: "urn:b", members: { s: "Property 2" } }],
  ['{"languageMap":{"en":"Hi"}}', { type: "LanguageProperty", text: '{"en":"Hi"}' }],
  ['{"vocab":"x"}', { type: "VocabProperty", text: "x" }],
  ['{"json":[1]}', { type: "JsonProperty", text: "[1]" }],
  ['{"json":"true"}', { type: "JsonProperty", text: '"true"' }],
  ['{"valueList":[1]}', { type: "ListProperty", text: "[1]" }],
  ['{"objectList":["urn:b"]}', { type: "ListRelationship", text: '["urn:b"]' }],
];
for (const [json, expected] of concise) {
  for (const format of [undefined, "concise", "normalized"] as const) {
    test(`${json} is a concise ${expected.type}, hint ${format}`, () => assert.deepEqual(read(json, format), expected));
  }
  test(`${json} is a value where the broker says simplified`, () =>
    assert.deepEqual(read(json, "simplified"), { text: json }));
}

const stated: readonly (readonly [json: string, expected: Read])[] = [
  ['"x"', { text: "x" }],
  ['""', { text: "" }],
  ["null", {}],
  ["9007199254740993", { text: "9007199254740993" }],
  ['["x"]', { text: '["x"]' }],
  ['{"value":7,"unitCode":"is data"}', { text: '{"value":7,"unitCode":"is data"}' }],
  ['{"json":{"value":5}}', { text: '{"json":{"value":5}}' }],
  ['{"type":"Property","value":"x"}', { type: "Property", text: "x" }],
];
for (const [json, expected] of stated) {
  test(`where the configuration states keyValues, ${json} is stored as ${expected.text}`, () =>
    assert.deepEqual(read(json, "keyValues"), expected));
}

test("a member NGSI-LD does not know makes an object a value, unless the broker says otherwise", () => {
  const json = '{"value":10.5,"unit":"cm"}';

  assert.deepEqual(read(json), { text: json });
  assert.deepEqual(read(json, "concise"), { type: "Property", text: "10.5", members: { unit: "cm" } });
});

const simplified = [
  '"urn:ngsi-ld:Building:1"',
  '""',
  "17",
  "12345678901234567890",
  "true",
  "null",
  '["x","y"]',
  '{"x":1}',
  '{"type":"Point","coordinates":[1,2]}',
  '{"type":"DateTime","value":"2020-01-01"}',
  '{"type":["Property"],"value":1}',
  '{"type":"constructor","value":1}',
  '[{"value":1}]',
  '[{"value":1},{"value":2}]',
  '[{"type":"Relationship","object":"urn:a"},{"type":"Relationship","object":"urn:b"}]',
  '[{"type":"Property","value":1,"datasetId":"urn:d:1"},2]',
  '{"dataset":{"urn:d:1":1},"more":2}',
  '{"dataset":{"urn:d:1":1,"name":2}}',
  '{"dataset":["urn:d:1"]}',
  '{"dataset":{}}',
  "[]",
];
for (const json of simplified) {
  for (const format of [undefined, "normalized", "concise", "simplified"] as const) {
    test(`${json} is stored as it is, hint ${format}`, () => assert.deepEqual(read(json, format), { text: json }));
  }
}

const instances = [
  {
    what: "the default instance, wherever it stands",
    json: '[{"type":"Property","value":1,"datasetId":"urn:d:1"},{"type":"Property","value":2,"unitCode":"CEL"}]',
    chosen: { type: "Property", text: "2", members: { unitCode: "CEL" } },
    others: '[{"type":"Property","value":1,"datasetId":"urn:d:1"}]',
  },
  {
    what: "without a default instance the one whose datasetId comes first",
    json: '[{"type":"Relationship","object":"urn:b","datasetId":"urn:d:2"},{"type":"Relationship","object":"urn:a","datasetId":"urn:d:1"}]',
    chosen: { type: "Relationship", text: "urn:a", members: { datasetId: "urn:d:1" } },
    others: '[{"type":"Relationship","object":"urn:b","datasetId":"urn:d:2"}]',
  },
  {
    what: "the only instance",
    json: '[{"type":"Property","value":1,"datasetId":"urn:d:1"}]',
    chosen: { type: "Property", text: "1", members: { datasetId: "urn:d:1" } },
    others: undefined,
  },
  {
    what: "the only instance, without a datasetId",
    json: '[{"type":"Property","value":1}]',
    chosen: { type: "Property", text: "1" },
    others: undefined,
  },
  {
    what: "a concise instance",
    json: '[{"value":1},{"value":2,"datasetId":"urn:d:1"}]',
    chosen: { type: "Property", text: "1" },
    others: '[{"type":"Property","value":2,"datasetId":"urn:d:1"}]',
  },
  {
    what: "the default instance of simplified ones",
    json: '{"dataset":{"urn:d:1":1,"@none":"2","urn:d:2":{"id":"urn:e"}}}',
    chosen: { text: '"2"' },
    others: '[{"value":1,"datasetId":"urn:d:1"},{"value":{"id":"urn:e"},"datasetId":"urn:d:2"}]',
  },
  {
    what: "without a default instance the simplified one whose datasetId comes first",
    json: '{"dataset":{"urn:d:2":11,"urn:d:1":10}}',
    chosen: { text: "10", members: { datasetId: "urn:d:1" } },
    others: '[{"value":11,"datasetId":"urn:d:2"}]',
  },
  {
    what: "the only simplified instance",
    json: '{"dataset":{"urn:d:1":10}}',
    chosen: { text: "10", members: { datasetId: "urn:d:1" } },
    others: undefined,
  },
] as const;
for (const { what, json, chosen, others } of instances)
  test(`instances are read as ${what}`, () => {
    assert.deepEqual(read(json), chosen);
    assert.equal(othersJson(decodeLdAttribute("a", parseJson(json), undefined)), others);
  });

test("members of a sub-attribute are read at any depth", () => {
  const by = '{"type":"Relationship","object":"urn:o","since":{"type":"Property","value":"x"}}';
  const json = `{"type":"Property","value":1,"accuracy":{"type":"Property","value":0.5,"unitCode":"P1","by":${by}}}`;

  const [accuracy] = decodeLdAttribute("a", parseJson(json), undefined).members;

  assert.equal(accuracy && subMembersJson(accuracy), `{"unitCode":"P1","by":${by}}`);
});

for (const name of ["createdAt", "modifiedAt", "deletedAt", "expiresAt", "scope", "https://uri.etsi.org/ngsi-ld/scope"])
  test(`${name} of an entity is plain text, an attribute of that name stays one`, () => {
    const given = decodeLdAttribute(name, "/a/b", undefined);
    const list = decodeLdAttribute(name, ["/a", "/b"], undefined);
    const property = decodeLdAttribute(name, { type: "Property", value: "/a" }, undefined);

    assert.deepEqual([attributeText(given), attributeText(list)], ["/a/b", '["/a","/b"]']);
    assert.deepEqual([given.form, property.form], ["plain", "normalized"]);
  });
