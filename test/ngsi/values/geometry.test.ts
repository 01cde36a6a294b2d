import assert from "node:assert/strict";
import { test } from "node:test";
import { geometryText } from "../../../core/ngsi/index.js";
import type { Attribute, ValueKind } from "../../../core/ngsi/model.js";

const attribute = (type: string | undefined, text: string, kind: ValueKind = "string"): Attribute => ({
  name: "a",
  ...(type === undefined ? {} : { type }),
  form: "normalized",
  value: { kind, text },
  members: [],
});
const geoJson = (type: string, coordinates: unknown) => JSON.stringify({ type, coordinates });

const simple = [
  {
    type: "geo:point",
    text: "40.1, -3.5",
    longitude: geoJson("Point", [-3.5, 40.1]),
    latitude: geoJson("Point", [40.1, -3.5]),
  },
  {
    type: "geo:point",
    text: "  +1.50 ,.5e1  ",
    longitude: geoJson("Point", [5, 1.5]),
    latitude: geoJson("Point", [1.5, 5]),
  },
  {
    type: "geo:line",
    text: '["40,-3","41,-4"]',
    longitude: geoJson("LineString", [
      [-3, 40],
      [-4, 41],
    ]),
    latitude: geoJson("LineString", [
      [40, -3],
      [41, -4],
    ]),
  },
  {
    type: "geo:box",
    text: '["40,-3","41,-4"]',
    longitude: geoJson("Polygon", [
      [
        [-4, 40],
        [-3, 40],
        [-3, 41],
        [-4, 41],
        [-4, 40],
      ],
    ]),
    latitude: geoJson("Polygon", [
      [
        [40, -4],
        [41, -4],
        [41, -3],
        [40, -3],
        [40, -4],
      ],
    ]),
  },
  {
    type: "geo:polygon",
    text: '["40,-3","41,-3","41,-4","40,-3"]',
    longitude: geoJson("Polygon", [
      [
        [-3, 40],
        [-3, 41],
        [-4, 41],
        [-3, 40],
      ],
    ]),
    latitude: geoJson("Polygon", [
      [
        [40, -3],
        [41, -3],
        [41, -4],
        [40, -3],
      ],
    ]),
  },
] as const;
for (const { type, text, longitude, latitude } of simple)
  test(`${type} ${text} has the longitude as x, or on request the latitude`, () => {
    const given = attribute(type, text, text.startsWith("[") ? "array" : "string");

    assert.equal(geometryText(given, "longitude"), longitude);
    assert.equal(geometryText(given, "latitude"), latitude);
  });

for (const type of ["GeoProperty", "geo:json", undefined])
  test(`GeoJSON of an attribute of type ${type} stays as it is, whatever x is`, () => {
    const text = geoJson("Point", [-3.5, 40.1]);

    assert.equal(geometryText(attribute(type, text, "object"), "latitude"), text);
  });

const others = [
  attribute("Text", "40, -3"),
  attribute("Property", geoJson("Point", [1, 2]), "object"),
  attribute(undefined, '{"type":"Feature"}', "object"),
  attribute(undefined, '[{"type":"Point","coordinates":[1,2]}]', "array"),
  attribute("GeoProperty", "null", "null"),
];
for (const other of others)
  test(`${other.type} ${other.value.text} is no geometry`, () =>
    assert.equal(geometryText(other, "longitude"), undefined));

const wrong = [
  { type: "geo:point", text: "nowhere", kind: "string" },
  { type: "geo:point", text: "NaN, 1", kind: "string" },
  { type: "geo:point", text: "1e400, 1", kind: "string" },
  { type: "geo:point", text: "1, 2, 3", kind: "string" },
  { type: "geo:point", text: "[1,2]", kind: "array" },
  { type: "geo:box", text: '["1,2"]', kind: "array" },
  { type: "geo:line", text: '["1,2","x"]', kind: "array" },
  { type: "geo:line", text: "[1,2]", kind: "array" },
] as const;
for (const { type, text, kind } of wrong)
  test(`${type} ${text} is given unchanged, for the error to show`, () =>
    assert.equal(geometryText(attribute(type, text, kind), "longitude"), text));

test("a long text of digits is refused at once", () => {
  const text = `${"1".repeat(1_000_000)} x`;

  assert.equal(geometryText(attribute("geo:point", text), "longitude"), text);
});
