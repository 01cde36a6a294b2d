import assert from "node:assert/strict";
import { test } from "node:test";
import { compileNameMappings, type Entity } from "../../../core/ngsi/index.js";
import { readMappingsDocument } from "../../../core/ngsi/mappings/document.js";

const attribute = (name: string, type: string) => ({
  name,
  type,
  form: "normalized" as const,
  value: { kind: "number" as const, text: "1" },
  members: [],
});
const car: Entity = {
  id: "car1",
  type: "Car",
  attributes: [attribute("speed", "Number"), attribute("at", "geo:json")],
};
const names = { service: "svc", servicePath: "/a", entity: car };

const mapped = (serviceMappings: readonly object[]) => {
  const { mappings, faults } = compileNameMappings(readMappingsDocument(JSON.stringify({ serviceMappings })));
  const { service, servicePath, entity } = mappings.apply(names);
  const attributes = entity.attributes.map(({ name, type }) => `${name}:${type}`);
  return { faults, result: [service, servicePath, entity.id, entity.type, ...attributes].join(" ") };
};
const within = (entityMappings: readonly object[]) => [{ servicePathMappings: [{ entityMappings }] }];
const unchanged = "svc /a car1 Car speed:Number at:geo:json";

const cases = [
  { says: "no mapping changes nothing", given: [], result: unchanged },
  {
    says: "a service pattern that matches everything gives the new name once",
    given: [{ originalService: ".*", newService: "ns" }],
    result: unchanged.replace("svc", "ns"),
  },
  {
    says: "a pattern must match the whole name",
    given: [{ originalService: "sv", newService: "ns" }],
    result: unchanged,
  },
  {
    says: "a dot without special meaning is quoted, with one it is any character",
    given: [
      { originalService: "s\\.c", newService: "x" },
      { originalService: "s.c", newService: "ns" },
    ],
    result: unchanged.replace("svc", "ns"),
  },
  {
    says: "the first service that matches counts, also when nothing below it does",
    given: [{ originalService: "svc" }, { originalService: "svc", newService: "second" }],
    result: unchanged,
  },
  {
    says: "a service path counts only when one of its entity mappings is for the type",
    given: [
      {
        newService: "ns",
        servicePathMappings: [
          { newServicePath: "/x", entityMappings: [{ originalEntityType: "Bus" }] },
          { newServicePath: "/empty", entityMappings: [] },
          { newServicePath: "/missing" },
        ],
      },
    ],
    result: unchanged.replace("svc", "ns"),
  },
  {
    says: "new names of service, path and id may hold groups of the old one",
    given: [
      {
        originalService: "(s)vc",
        newService: "$1-x",
        servicePathMappings: [
          {
            originalServicePath: "/(.+)",
            newServicePath: "/n/$1",
            entityMappings: [{ originalEntityId: "(car)(?P<number>\\d+)", newEntityId: "${number}\\$0$0" }],
          },
        ],
      },
    ],
    result: "s-x /n/a 1$0car1 Car speed:Number at:geo:json",
  },
  {
    says: "a new name that repeats the expression of the old one keeps the name",
    given: [
      {
        originalService: "s.*",
        newService: "s.*",
        servicePathMappings: [
          {
            originalServicePath: "/.*",
            newServicePath: "/.*",
            entityMappings: [
              {
                originalEntityId: ".*",
                newEntityId: ".*",
                originalEntityType: "C.*",
                newEntityType: "C.*",
                attributeMappings: [
                  { originalAttributeName: "sp.*", newAttributeName: "sp.*", newAttributeType: "Float" },
                ],
              },
            ],
          },
        ],
      },
    ],
    result: unchanged.replace("speed:Number", "speed:Float"),
  },
  {
    says: "digits behind the number of a group that would make one that is not there are text",
    given: [
      {
        originalService: "(s)vc",
        newService: "$10",
        servicePathMappings: [
          { entityMappings: [{ originalEntityId: "car(\\d)", newEntityId: "car$100" }, { newEntityType: "Bus" }] },
        ],
      },
    ],
    result: "s0 /a car100 Car speed:Number at:geo:json",
  },
  {
    says: "new types and attribute names are taken as they are",
    given: within([
      {
        originalEntityType: "(C)ar",
        newEntityType: "$1",
        attributeMappings: [
          { originalAttributeName: "(s).*", newAttributeName: "$1", newAttributeType: "Float" },
          { originalAttributeType: "geo:.*", newAttributeName: "position" },
        ],
      },
    ]),
    result: "svc /a car1 $1 $1:Float position:geo:json",
  },
  {
    says: "attributes of an entity mapping that does not match are left alone",
    given: within([
      { originalEntityId: "bus1", originalEntityType: "Car", attributeMappings: [{ newAttributeName: "x" }] },
    ]),
    result: unchanged,
  },
  {
    says: "an attribute mapping without a type matches every type",
    given: within([{ attributeMappings: [{ originalAttributeName: "speed", newAttributeName: "v" }] }]),
    result: unchanged.replace("speed", "v"),
  },
];
for (const { says, given, result } of cases) test(says, () => assert.deepEqual(mapped(given), { faults: [], result }));

const unusable = [
  { given: [{ originalService: "(" }], fault: /^serviceMappings\[0\]: .*"\("/ },
  { given: within([{ originalEntityId: "(?=a)b" }]), fault: /servicePathMappings\[0\]\.entityMappings\[0\]: / },
  { given: [{ originalService: "(a)\\1" }], fault: /escape/ },
  { given: [{ originalService: "a", newService: "$1" }], fault: /"\$1".*no such group/ },
  { given: [{ originalService: "a", newService: "${x}" }], fault: /no such group/ },
  { given: [{ originalService: "a".repeat(1001) }], fault: /longer than 1000/ },
  { given: [{ originalService: "(a{100}b{100}){100}" }], fault: /repe/ },
] as const;
for (const { given, fault } of unusable)
  test(`a mapping such as ${JSON.stringify(given).slice(0, 60)} is left out, the others go on`, () => {
    const { faults, result } = mapped([...given, { newService: "other" }]);

    assert.equal(faults.length, 1);
    assert.match(faults.join(), fault);
    assert.ok(result === unchanged.replace("svc", "other") || result === unchanged);
  });

test("a pattern that stops other engines takes no time to speak of", () => {
  const hostile = [{ originalService: "(s+)+x", newService: "y" }];
  const { mappings } = compileNameMappings(readMappingsDocument(JSON.stringify({ serviceMappings: hostile })));
  const service = "s".repeat(100_000);

  assert.equal(mappings.apply({ ...names, service }).service, service);
});

test("a mapped entity stays one of its API", () => {
  const document = { serviceMappings: within([{ newEntityId: "other" }]) };
  const { mappings } = compileNameMappings(readMappingsDocument(JSON.stringify(document)));

  const { entity } = mappings.apply({ ...names, entity: { ...car, api: "v2" } });

  assert.equal(entity.id, "other");
  assert.equal(entity.api, "v2");
});
