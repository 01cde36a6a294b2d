import assert from "node:assert/strict";
import { test } from "node:test";
import { type Attribute, type Entity, withShortNames } from "../../../core/ngsi/index.js";

const attribute = (name: string, ...members: readonly string[]): Attribute => ({
  name,
  type: "Property",
  form: "normalized",
  value: { kind: "number", text: "1" },
  members: members.map((member) => ({ name: member, value: { kind: "string", text: "x" } })),
});
const shortNames = (...attributes: readonly Attribute[]): readonly string[] =>
  withShortNames({ id: "urn:x:1", type: "https://example.org/Room", attributes }).attributes.map(({ name }) => name);

const context = "https://uri.etsi.org/ngsi-ld/default-context/";
const cases: readonly {
  readonly says: string;
  readonly given: readonly string[];
  readonly short: readonly string[];
}[] = [
  { says: "a plain name stays", given: ["temperature"], short: ["temperature"] },
  { says: "an IRI is called by its last segment", given: [`${context}temperature`], short: ["temperature"] },
  { says: "an IRI is called by its fragment", given: ["http://x.org/terms/#Temp"], short: ["Temp"] },
  { says: "a URN is called by its last part", given: ["urn:ngsi-ld:term:temperature"], short: ["temperature"] },
  { says: "a compact IRI stays", given: ["sdm:temperature"], short: ["sdm:temperature"] },
  { says: "an IRI without a path stays", given: ["https://temperature"], short: ["https://temperature"] },
  {
    says: "an IRI that ends in a separator stays",
    given: [`${context}a/`, "urn:x:"],
    short: [`${context}a/`, "urn:x:"],
  },
  {
    says: "two IRIs with one last part stay",
    given: ["https://a.org/temperature", "https://b.org/temperature", "https://b.org/level"],
    short: ["https://a.org/temperature", "https://b.org/temperature", "level"],
  },
  {
    says: "an IRI beside an attribute of that name stays, in any letter case",
    given: [`${context}temperature`, "Temperature"],
    short: [`${context}temperature`, "Temperature"],
  },
];

for (const { says, given, short } of cases)
  test(`short names: ${says}`, () => assert.deepEqual(shortNames(...given.map((name) => attribute(name))), short));

test("short names: a member is called by its last part within its attribute", () => {
  const entity: Entity = {
    id: "urn:x:1",
    type: "Room",
    attributes: [attribute("p", "https://a.org/accuracy", "unitCode"), attribute("q", "http://a/m", "http://b/m")],
  };

  const members = withShortNames(entity).attributes.map((one) => one.members.map(({ name }) => name));

  assert.deepEqual(members, [
    ["accuracy", "unitCode"],
    ["http://a/m", "http://b/m"],
  ]);
});

test("short names: the type of an entity, and an entity of NGSI v2, stay as they are", () => {
  const v2: Entity = { id: "car1", type: "Car", api: "v2", attributes: [attribute("urn:x:speed")] };
  const ld: Entity = { id: "urn:x:1", type: "https://example.org/Room", attributes: [] };

  assert.equal(withShortNames(v2), v2);
  assert.equal(withShortNames(ld).type, ld.type);
});

test("short names: a long name takes no more time than its length says", () => {
  const name = `https://x.org/${"#/".repeat(500_000)}end`;

  assert.deepEqual(shortNames(attribute(name)), ["end"]);
});
