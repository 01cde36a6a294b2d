import assert from "node:assert/strict";
import { test } from "node:test";
import { type Attribute, decode, type Entity } from "../../core/ngsi/index.js";
import { type BodyFormat, bodyFormats, forms } from "./forms.js";
import { notificationBodies } from "./notifications.js";
import { requestsOf } from "./requests.js";

const ENTITIES = 7;

for (const format of bodyFormats)
  test(`bodies of the form ${format} decode to the entities of every other form`, () => {
    const entities = decoded(format);

    assert.deepEqual(entities.map(valuesOf), decoded("ld").map(valuesOf));
  });

for (const format of ["ld-pretty", "ld-concise", "ld-several"] as const)
  test(`bodies of the form ${format} decode to the metadata of compact ones too`, () => {
    const entities = decoded(format);

    assert.deepEqual(entities.map(metadataOf), decoded("ld").map(metadataOf));
  });

test("sub-attributes stand beside the metadata of their attribute, and have one of their own", () => {
  const [entity] = decoded("ld-sub-attributes");

  const accuracies = entity?.attributes.flatMap(({ members }) => members.filter(({ name }) => name === "accuracy"));
  assert.deepEqual(
    accuracies?.map(({ type, value, members }) => [type, value.text, members?.map(({ name }) => name)]),
    [
      ["Property", "0.5", ["provider"]],
      ["Property", "0.02", ["provider"]],
    ],
  );
});

test("NGSI v2 has the unit and the time as metadata with types", () => {
  const temperature = decoded("v2")[0]?.attributes.find(({ name }) => name === "temperature");

  assert.deepEqual(
    temperature?.members.map(({ name, type, value }) => [name, type, value.text]),
    [
      ["TimeInstant", "DateTime", "2026-01-15T10:20:30.123Z"],
      ["unit", "Text", "CEL"],
    ],
  );
});

test("the pretty form has the blanks of Scorpio: before colons, and inside lists, which have no lines of their own", () => {
  const [body = ""] = notificationBodies({ format: "ld-pretty", entities: 1 });

  assert.match(body, /^\{\n {2}"id" : "urn:ngsi-ld:Notification:bench",\n/);
  assert.match(body, /\n {2}"data" : \[ \{\n {4}"id" : "urn:ngsi-ld:Device:bench-0",\n/);
  assert.match(body, /\n {8}"coordinates" : \[ -8\.5, 41\.2 \]\n {6}\}\n {4}\},\n/);
  assert.match(body, /\n {4}\}\n {2}\} \]\n\}$/);
});

test("each request says how many events come of it, also the last one, which is not full", () => {
  const requests = requestsOf({ format: "ld-several", entities: ENTITIES }, "svc");

  assert.deepEqual(
    requests.map(({ events }) => events),
    [5, 2],
  );
});

for (const format of bodyFormats)
  test(`a request of the form ${format} names its service`, () => {
    const [request] = requestsOf({ format, entities: 1 }, "svc");

    const named = request?.headers.filter(([name]) => /^(fiware-service|ngsild-tenant)$/i.test(name));
    assert.deepEqual(
      named?.map(([, value]) => value),
      ["svc"],
    );
  });

function decoded(format: BodyFormat): readonly Entity[] {
  return requestsOf({ format, entities: ENTITIES }, "svc").flatMap(({ body, headers }) => {
    const fields = Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value]));
    return decode(forms[format].api, body, fields).entities;
  });
}

function valuesOf({ id, type, attributes }: Entity): unknown {
  return { id, type, attributes: inOrder(attributes).map(({ name, value }) => [name, value.kind, value.text]) };
}

function metadataOf({ attributes }: Entity): unknown {
  const members = (attribute: Attribute) =>
    attribute.members.map(({ name, value }) => `${name} ${value.text}`).toSorted();
  return inOrder(attributes).map((attribute) => [attribute.name, ...members(attribute)]);
}

function inOrder(attributes: readonly Attribute[]): readonly Attribute[] {
  return attributes.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}
