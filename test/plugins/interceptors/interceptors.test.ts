import assert from "node:assert/strict";
import { test } from "node:test";
import { type Entity, entityJson } from "../../../core/ngsi/index.js";
import {
  createStaticInterceptor,
  HostInterceptor,
  RemoveHeaderInterceptor,
} from "../../../plugins/interceptors/header-interceptors.js";
import {
  createRegexFilterInterceptor,
  RegexExtractorInterceptor,
  SearchReplaceInterceptor,
} from "../../../plugins/interceptors/regex-interceptors.js";
import { ldOf } from "../../ngsi/decode/from-text.js";
import { intercepted } from "../../support/intercepted.js";

const text = JSON.stringify({
  data: [
    {
      id: "urn:Room:7",
      type: "Room",
      temperature: { type: "Property", value: 21.5, unitCode: "CEL" },
      contact: { type: "Property", value: "call +34600111222", backup: { type: "Property", value: "+34600333444" } },
      place: { type: "Property", value: { floor: 3 } },
    },
  ],
});
const [entity] = ldOf(text).entities;
const room = (headers: Readonly<Record<string, string>> = {}) => Object.freeze({ headers, body: entity });

const address = { netmask: "", mac: "", cidr: null };
const machine = {
  hostname: () => "plant-1",
  networkInterfaces: () => ({
    lo: [{ ...address, address: "127.0.0.1", family: "IPv4", internal: true } as const],
    eth0: [
      { ...address, address: "fe80::1", family: "IPv6", internal: false, scopeid: 0 } as const,
      { ...address, address: "10.0.0.7", family: "IPv4", internal: false } as const,
    ],
  }),
};

const hosts = [
  { says: "the address that others can reach", useIP: true, preserveExisting: false, host: "10.0.0.7" },
  { says: "the name", useIP: false, preserveExisting: false, host: "plant-1" },
  { says: "nothing over a host that is there and preserved", useIP: true, preserveExisting: true, host: "other" },
] as const;
for (const { says, useIP, preserveExisting, host } of hosts)
  test(`host writes ${says}`, async () => {
    const interceptor = new HostInterceptor({ hostHeader: "Host", useIP, preserveExisting }, machine);
    await interceptor.start();

    assert.deepEqual(interceptor.intercept(room({ host: "other" })).headers, { host });
  });

for (const { preserveExisting, site } of [
  { preserveExisting: true, site: "old" },
  { preserveExisting: false, site: "new" },
] as const)
  test(`static with preserveExisting = ${preserveExisting} leaves ${site}`, () => {
    const interceptor = createStaticInterceptor({ key: "Site", value: "new", preserveExisting });

    assert.deepEqual(intercepted(interceptor, room({ site: "old" }))?.headers, { site });
    assert.deepEqual(intercepted(interceptor, room())?.headers, { site: "new" });
  });

const filters = [
  { regex: '"type":"Room"', excludeEvents: false, passes: true },
  { regex: '"type":"Room"', excludeEvents: true, passes: false },
  { regex: '"type":"Device"', excludeEvents: false, passes: false },
  { regex: '"type":"Device"', excludeEvents: true, passes: true },
  { regex: '"temperature":21[.]5,', excludeEvents: false, passes: true },
  { regex: '"place":\\{"floor":3\\}\\}$', excludeEvents: false, passes: true },
  { regex: "CEL", excludeEvents: false, passes: false },
  { regex: ".*", excludeEvents: false, passes: true },
] as const;
for (const { regex, excludeEvents, passes } of filters)
  test(`regex_filter ${regex} with excludeEvents = ${excludeEvents} ${passes ? "lets the room pass" : "drops the room"}`, () => {
    const interceptor = createRegexFilterInterceptor({ regex, excludeEvents });

    assert.equal(intercepted(interceptor, room()) !== undefined, passes);
  });

const extractions = [
  { regex: '"id":"urn:(\\w+):(\\d+)"', headers: { a: "b", kind: "Room", number: "7" } },
  { regex: '"id":"urn:(\\w+):(x)?', headers: { a: "b", kind: "Room" } },
  { regex: "(no)(thing)", headers: { a: "b" } },
] as const;
for (const { regex, headers } of extractions)
  test(`regex_extractor ${regex} gives the headers ${Object.keys(headers).join(", ")}`, () => {
    const settings = { "1.name": "Kind", "2.name": "number", "2.type": "default" };
    const interceptor = new RegexExtractorInterceptor({ regex, serializers: ["1", "2"], "serializers.*": settings });

    assert.deepEqual(interceptor.intercept(room({ a: "b" })).headers, headers);
  });

const removals = [
  { says: "one by its name", given: { withName: "Link" }, left: ["x-1", "x-2", "service"] },
  { says: "those of a list", given: { fromList: "x-1 , LINK" }, left: ["x-2", "service"] },
  {
    says: "those of a list with another separator",
    given: { fromList: "x-1;link", fromListSeparator: ";" },
    left: ["x-2", "service"],
  },
  { says: "those whose whole name matches", given: { matching: "x-.|serv" }, left: ["link", "service"] },
] as const;
for (const { says, given, left } of removals)
  test(`remove_header removes ${says}`, () => {
    const defaults = { withName: "", fromList: "", fromListSeparator: "\\s*,\\s*", matching: "" };
    const interceptor = new RemoveHeaderInterceptor({ ...defaults, ...given });

    const { headers } = interceptor.intercept(room({ link: "1", "x-1": "2", "x-2": "3", service: "4" }));

    assert.deepEqual(Object.keys(headers), left);
  });

function replaced(searchPattern: string, replaceString: string) {
  const interceptor = new SearchReplaceInterceptor({ searchPattern, replaceString, charset: "UTF-8" });
  return interceptor.intercept({ ...room(), body: { ...entity, mapped: entity } }).body;
}

const valuesOf = ({ attributes }: Entity) =>
  attributes.flatMap(({ value, members }) => [value, ...members.map((member) => member.value)]);

const replacements = [
  {
    says: "values and values of members, with groups",
    pattern: "\\+(\\d\\d)\\d+",
    by: "+$1...",
    kinds: ["number", "string", "string", "string", "object"],
    texts: ["21.5", "CEL", "call +34...", "+34...", '{"floor":3}'],
  },
  {
    says: "parts of a number and of an object, which stay what they are",
    pattern: "(5|3)\\b",
    by: "8",
    kinds: ["number", "string", "string", "string", "object"],
    texts: ["21.8", "CEL", "call +34600111222", "+34600333444", '{"floor":8}'],
  },
  {
    says: "a number by what is no JSON, which is a string then",
    pattern: "[.]5$",
    by: " and a half",
    kinds: ["string", "string", "string", "string", "object"],
    texts: ["21 and a half", "CEL", "call +34600111222", "+34600333444", '{"floor":3}'],
  },
] as const;
for (const { says, pattern, by, kinds, texts } of replacements)
  test(`search_replace replaces ${says}; ids, types and names stay`, () => {
    const body = replaced(pattern, by);

    assert.ok(typeof body === "object" && body !== null && "mapped" in body);
    const { mapped, ...own } = body;
    assert.deepEqual(mapped, own);
    assert.deepEqual(valuesIn(own), { kinds, texts });
    assert.deepEqual(namesIn(own), namesIn(entity));
  });

function entityIn(body: unknown): Entity {
  assert.ok(isRoom(body));
  return body;
}

function isRoom(body: unknown): body is Entity {
  return typeof body === "object" && body !== null && "attributes" in body;
}

function valuesIn(body: unknown) {
  const values = valuesOf(entityIn(body));
  return { kinds: values.map(({ kind }) => kind), texts: values.map(({ text: each }) => each) };
}

function namesIn(body: unknown) {
  const { id, type, attributes } = entityIn(body);
  return [id, type, ...attributes.flatMap(({ name, members }) => [name, ...members.map((member) => member.name)])];
}

const accuracy = { type: "Property", value: 1, by: "+2" };
const p = [
  { type: "Property", value: "+1", accuracy },
  { type: "Property", value: "+3", datasetId: "urn:d" },
];
const [instances] = ldOf(JSON.stringify({ data: [{ id: "e", type: "T", p }] })).entities;

test("search_replace replaces values of other instances and of members of members", () => {
  const interceptor = new SearchReplaceInterceptor({ searchPattern: "\\+", replaceString: "-", charset: "UTF-8" });

  const { body } = interceptor.intercept({ headers: {}, body: instances });

  assert.equal(entityJson(entityIn(body)), entityJson(entityIn(instances)).replaceAll("+", "-"));
});

test("regex_filter finds what stands in another instance of an attribute", () => {
  const interceptor = createRegexFilterInterceptor({ regex: '"datasetId":"urn:d"', excludeEvents: false });

  assert.notEqual(intercepted(interceptor, { headers: {}, body: instances }), undefined);
});

test("an event that holds no entity passes search_replace as it is", () => {
  const event = { headers: {}, body: "+34600111222" };
  const interceptor = new SearchReplaceInterceptor({ searchPattern: ".", replaceString: "", charset: "UTF-8" });

  assert.equal(interceptor.intercept(event), event);
});
