import assert from "node:assert/strict";
import { test } from "node:test";
import { type NgsiVersion, ngsiVersions } from "../../../core/ngsi/index.js";
import { RejectedRequest } from "../../../core/sdk/index.js";
import { NgsiRestHandler } from "../../../plugins/ngsi-rest-handler/ngsi-rest-handler.js";
import { handlerConfig, inboundRequest, type Sent } from "./inbound-request.js";

const limits = {
  ...handlerConfig,
  max_entities: 2,
  max_attributes: 3,
  max_name_length: 63,
  max_depth: 8,
  max_number_length: 40,
  max_header_length: 256,
};
const limited = (ngsi_version: NgsiVersion = "auto") => new NgsiRestHandler({ ...limits, ngsi_version });

const property = (value: unknown) => ({ type: "Property", value });
const ld = (members: object): Sent => ({
  body: { type: "Notification", data: [{ id: "urn:e:1", type: "T", ...members }] },
});
const v2 = (members: object): Sent => ({ body: { data: [{ id: "e", type: "T", ...members }] } });
const v1 = (...attributes: readonly object[]): Sent => ({
  body: { contextResponses: [{ contextElement: { id: "e", type: "T", attributes } }] },
});
const long = "n".repeat(64);
const allowed = "n".repeat(63);
const deep = (levels: number) => JSON.parse(`${"[".repeat(levels)}${"]".repeat(levels)}`);
const numberOf = (length: number): Sent => ({
  body: `{"type":"Notification","data":[{"id":"urn:e:1","type":"T","p":{"type":"Property","value":${"7".repeat(length)}}}]}`,
});
const entities = (count: number): Sent => ({
  body: { data: Array.from({ length: count }, (_, index) => ({ id: `e${index}`, type: "T" })) },
});
const link = (length: number): Sent => ({
  ...ld({ p: property(1) }),
  headers: { "content-type": "application/json", link: "l".repeat(length) },
});

const cases: readonly {
  readonly what: string;
  readonly within: Sent;
  readonly beyond: Sent;
  readonly status: number;
  readonly says: RegExp;
}[] = [
  {
    what: "an entity id",
    within: ld({ id: allowed, p: property(1) }),
    beyond: ld({ id: long, p: property(1) }),
    status: 400,
    says: /an entity id has 64 characters .* the limit is 63 \(max_name_length\)$/,
  },
  {
    what: "a list of types",
    within: ld({ type: ["n".repeat(30), "n".repeat(30)], p: property(1) }),
    beyond: ld({ type: ["n".repeat(31), "n".repeat(31)], p: property(1) }),
    status: 400,
    says: /an entity type has 65 characters .* the limit is 63 \(max_name_length\)$/,
  },
  {
    what: "an attribute name",
    within: ld({ [allowed]: property(1) }),
    beyond: ld({ [long]: property(1) }),
    status: 400,
    says: /an attribute name has 64 characters .* the limit is 63 \(max_name_length\)$/,
  },
  {
    what: "the name of a sub-attribute",
    within: ld({ p: { ...property(1), [allowed]: property(2) } }),
    beyond: ld({ p: { ...property(1), [long]: property(2) } }),
    status: 400,
    says: /metadata item or sub-attribute has 64 characters .* the limit is 63 \(max_name_length\)$/,
  },
  {
    what: "an attribute type of NGSI v2",
    within: v2({ p: { type: allowed, value: 1 } }),
    beyond: v2({ p: { type: long, value: 1 } }),
    status: 400,
    says: /an attribute type has 64 characters .* the limit is 63 \(max_name_length\)$/,
  },
  {
    what: "attributes of an entity with their members",
    within: ld({ p: { ...property(1), unitCode: "CEL" }, q: property(2) }),
    beyond: ld({ p: { ...property(1), unitCode: "CEL" }, q: property(2), r: property(3) }),
    status: 413,
    says: /entity "urn:e:1" has 4 attributes .* the limit is 3 \(max_attributes\)$/,
  },
  {
    what: "attributes of NGSI v1",
    within: v1(...Array.from({ length: 3 }, () => ({ name: "a", value: 1 }))),
    beyond: v1(...Array.from({ length: 4 }, () => ({ name: "a", value: 1 }))),
    status: 413,
    says: /entity "e" has 4 attributes .* the limit is 3 \(max_attributes\)$/,
  },
  {
    what: "entities",
    within: entities(2),
    beyond: entities(3),
    status: 413,
    says: /it has 3 entities, the limit is 2 \(max_entities\)$/,
  },
  {
    what: "levels of nesting",
    within: ld({ p: property(deep(4)) }),
    beyond: ld({ p: property(deep(5)) }),
    status: 400,
    says: /it is nested 9 levels deep or deeper, the limit is 8 \(max_depth\)$/,
  },
  {
    what: "digits of a number",
    within: numberOf(40),
    beyond: numberOf(41),
    status: 400,
    says: /a number has 41 characters, the limit is 40 \(max_number_length\)$/,
  },
  {
    what: "a Link header",
    within: link(256),
    beyond: link(257),
    status: 400,
    says: /^'link' header has 257 characters, the limit is 256 \(max_header_length\)$/,
  },
];
for (const { what, within, beyond, status, says } of cases)
  test(`${what} up to the limit is accepted, beyond it is refused with ${status}, limit, property and value`, () => {
    assert.ok(limited().decode(inboundRequest(within)).events.length > 0);
    assert.throws(
      () => limited().decode(inboundRequest(beyond)),
      (error) => {
        assert.ok(error instanceof RejectedRequest);
        assert.equal(error.status, status);
        assert.match(error.message, says);
        assert.ok(error.message.length < 250);
        return true;
      },
    );
  });

for (const version of ngsiVersions)
  test(`the limits of nesting and numbers hold for bodies that are read as ${version}`, () => {
    for (const beyond of [numberOf(41), ld({ p: property(deep(5)) })])
      assert.throws(() => limited(version).decode(inboundRequest(beyond)), /the limit is (?:40|8) /);
  });

test("a notification that takes more than its part of the heap is refused with 413 and what to do", () => {
  const body = `{"data":[{"id":"e","type":"T","a":{"value":[${"{},".repeat(300_000)}{}],"type":"T"}}]}`;
  const withHeap = (mebibytes: number) =>
    new NgsiRestHandler({ ...handlerConfig, ngsi_version: "auto" }, undefined, mebibytes * 1_048_576);

  assert.equal(withHeap(256).decode(inboundRequest({ body })).events.length, 1);
  assert.throws(
    () => withHeap(128).decode(inboundRequest({ body })),
    (error) => {
      assert.ok(error instanceof RejectedRequest);
      assert.equal(error.status, 413);
      assert.match(error.message, /of which there are 24 for one notification; .* \(--max-old-space-size\)$/);
      return true;
    },
  );
});
