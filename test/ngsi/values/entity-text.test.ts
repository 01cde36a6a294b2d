import assert from "node:assert/strict";
import { test } from "node:test";
import { entityJson, entityValuesJson } from "../../../core/ngsi/index.js";
import { ldOf, v2Of } from "../decode/from-text.js";

const ld = [
  `{"id":"urn:1","type":"Room","t":{"type":"Property","value":12345678901234567890,"unitCode":"CEL"}}`,
  `{"id":"urn:1","type":["Room","Hall"],"r":{"type":"Relationship","object":["urn:2","urn:3"]}}`,
  `{"id":"urn:1","type":"Room","l":{"type":"LanguageProperty","languageMap":{"en":"a","de":"b"}}}`,
  `{"id":"urn:1","type":"Room","p":{"type":"GeoProperty","value":{"type":"Point","coordinates":[1,2.5]}}}`,
  `{"id":"urn:1","type":"Room","t":{"type":"Property","value":"a\\"b","accuracy":{"type":"Property","value":0.5}}}`,
  `{"id":"urn:1","type":"Room","t":{"type":"Property","value":1,"accuracy":{"type":"Property","value":0.5,"unitCode":"P1","by":{"type":"Relationship","object":"urn:o"}}}}`,
  `{"id":"urn:1","type":"Room","t":[{"type":"Property","value":1},{"type":"Property","value":2,"datasetId":"urn:d"}]}`,
  `{"id":"urn:1","type":"Room","createdAt":"2020-01-01T00:00:00Z","scope":["/a","/b"]}`,
  `{"id":"urn:1","type":"Room","speed":{"dataset":{"@none":1,"urn:b":"two","urn:a":3}},"one":{"dataset":{"urn:a":[1]}}}`,
  `{"id":"urn:1","type":"Room","simple":"text","number":1,"none":null,"list":[1,"a"]}`,
] as const;
for (const entity of ld)
  test(`the NGSI-LD entity ${entity} is written as it was read`, () => {
    const [read] = ldOf(`{"type":"Notification","data":[${entity}]}`).entities;

    assert.equal(read && entityJson(read), entity);
  });

test("an entity that was read as keyValues is written as it was read", () => {
  const text = '{"id":"urn:1","type":"Room","s":"text","o":{"value":1},"none":null}';
  const [read] = ldOf(`{"type":"Notification","data":[${text}]}`, "keyValues").entities;

  assert.equal(read && entityJson(read), text);
});

const v2 = [
  `{"id":"room","type":"Room","t":{"type":"Number","value":23.0,"metadata":{"unit":{"type":"Text","value":"C"}}}}`,
  `{"id":"room","type":"[A,B]","r":{"type":"Relationship","value":"other","metadata":{}}}`,
  `{"id":"room","n":{"type":"None","value":null,"metadata":{}}}`,
] as const;
for (const entity of v2)
  test(`the NGSI v2 entity ${entity} is written as it was read`, () => {
    const [read] = v2Of(`{"subscriptionId":"s","data":[${entity}]}`).entities;

    assert.equal(read && entityJson(read), entity);
  });

test("a member that an interceptor has given a bare value is written beside it, and is no instance", () => {
  const members = [{ name: "quality", value: { kind: "string", text: "good" } }] as const;
  const speed = { name: "speed", form: "simplified", value: { kind: "number", text: "1" }, members } as const;

  const text = entityJson({ id: "urn:1", type: "Car", attributes: [speed] });

  assert.equal(text, '{"id":"urn:1","type":"Car","speed":{"value":1,"quality":"good"}}');
});

test("the values of an entity are written without types and metadata", () => {
  const text = `{"id":"room","type":"Room","t":{"type":"Number","value":23.0,"metadata":{}},"s":{"value":"x","type":"Text"}}`;
  const [read] = v2Of(`{"subscriptionId":"s","data":[${text}]}`).entities;

  assert.equal(read && entityValuesJson(read), `{"id":"room","type":"Room","t":23.0,"s":"x"}`);
});

test("the value of an attribute with several instances is their list", () => {
  const list = `[{"type":"Property","value":1},{"type":"Property","value":2,"datasetId":"urn:d"}]`;
  const [read] = ldOf(`{"type":"Notification","data":[{"id":"e","type":"T","t":${list}}]}`).entities;

  assert.equal(read && entityValuesJson(read), `{"id":"e","type":"T","t":${list}}`);
});
