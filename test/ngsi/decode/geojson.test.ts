import assert from "node:assert/strict";
import { test } from "node:test";
import { isGeometry } from "../../../core/ngsi/decode/ld-attribute.js";
import { ldOf } from "./from-text.js";

const point = { type: "Point", coordinates: [1, 2.5] };
const turnedPoint = { coordinates: [1, 2.5], type: "Point" };
const feature = (properties: object, geometry: unknown): object => ({
  "@context": "https://example.org/context.jsonld",
  id: "urn:ngsi-ld:E:1",
  type: "Feature",
  geometry,
  properties: { type: "T", ...properties },
});

const cases = [
  {
    what: "a simplified attribute",
    properties: { p: 1, location: point },
    geometry: turnedPoint,
    names: ["p", "location"],
  },
  {
    what: "a normalized attribute",
    properties: { location: { type: "GeoProperty", value: turnedPoint } },
    geometry: point,
    names: ["location"],
  },
  {
    what: "one of several instances",
    properties: { location: [{ type: "GeoProperty", value: point, datasetId: "urn:d:1" }] },
    geometry: point,
    names: ["location"],
  },
  { what: "nothing", properties: { p: 1 }, geometry: null, names: ["p"] },
] as const;
for (const { what, properties, geometry, names } of cases) {
  test(`a feature whose geometry repeats ${what} gives its properties as attributes`, () => {
    const features = [feature(properties, geometry)];

    const [single] = ldOf(JSON.stringify({ data: features[0] })).entities;
    const [listed] = ldOf(JSON.stringify({ data: features })).entities;
    const [collected] = ldOf(JSON.stringify({ data: { type: "FeatureCollection", features } })).entities;

    assert.equal(single?.id, "urn:ngsi-ld:E:1");
    assert.equal(single.type, "T");
    assert.deepEqual(
      single.attributes.map(({ name }) => name),
      names,
    );
    assert.deepEqual(listed, single);
    assert.deepEqual(collected, single);
  });
}

test("a geometry that no attribute holds is kept as the attribute geometry", () => {
  const text = JSON.stringify({ data: feature({ location: { type: "Point", coordinates: [3, 4] } }, point) });

  const { attributes } = ldOf(text).entities[0] ?? { attributes: [] };

  assert.deepEqual(
    attributes.map(({ name, value }) => [name, value.text]),
    [
      ["geometry", '{"type":"Point","coordinates":[1,2.5]}'],
      ["location", '{"type":"Point","coordinates":[3,4]}'],
    ],
  );
});

test("an entity whose type happens to be Feature is an ordinary entity", () => {
  const entity = { id: "urn:x", type: "Feature", properties: { type: "Property", value: 1 } };

  assert.equal(ldOf(JSON.stringify({ data: [entity] })).entities[0]?.type, "Feature");
});

const geometries = [
  { json: point, is: true },
  { json: { type: "GeometryCollection", geometries: [point] }, is: true },
  { json: { type: "Point" }, is: false },
  { json: { type: "Room", coordinates: [] }, is: false },
  { json: "Point", is: false },
] as const;
for (const { json, is } of geometries) {
  test(`${JSON.stringify(json)} ${is ? "is" : "is not"} a geometry`, () => assert.equal(isGeometry(json), is));
}
