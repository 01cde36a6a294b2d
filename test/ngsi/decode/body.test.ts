import assert from "node:assert/strict";
import { test } from "node:test";
import { versionOf } from "../../../core/ngsi/decode/body.js";
import { decode } from "../../../core/ngsi/decode/decode.js";
import type { HeaderFields } from "../../../core/ngsi/headers.js";

const ldRoom = { id: "urn:r", type: "Room", t: { type: "Property", value: 1 } };
const v2Room = { id: "r", type: "Room", t: { type: "Number", value: 1, metadata: {} } };
const orion: HeaderFields = { "ngsiv2-attrsformat": "normalized" };

interface Case {
  readonly what: string;
  readonly body: unknown;
  readonly headers?: HeaderFields;
  readonly version: "ld" | "v2" | "v1";
}
const cases: readonly Case[] = [
  { what: "an envelope of NGSI-LD", body: { type: "Notification", data: [] }, version: "ld" },
  {
    what: "an envelope of NGSI-LD with a header of v2",
    body: { type: "Notification", data: [v2Room] },
    headers: orion,
    version: "ld",
  },
  { what: "a JSON-LD context", body: { data: [], "@context": "urn:c" }, headers: orion, version: "ld" },
  { what: "a context in an entity", body: { data: [{ ...v2Room, "@context": "urn:c" }] }, version: "ld" },
  { what: "a feature collection", body: { data: { type: "FeatureCollection", features: [] } }, version: "ld" },
  {
    what: "the content type of JSON-LD",
    body: { data: [v2Room] },
    headers: { "content-type": "application/ld+json" },
    version: "ld",
  },
  {
    what: "a tenant of NGSI-LD",
    body: { data: [{ id: "r", type: "Room", t: 1 }] },
    headers: { "ngsild-tenant": "t" },
    version: "ld",
  },
  {
    what: "a tenant of NGSI-LD with attributes of v2",
    body: { data: [v2Room] },
    headers: { "ngsild-tenant": "t" },
    version: "v2",
  },
  {
    what: "a tenant of NGSI-LD with attributes of both, which have metadata",
    body: { data: [{ ...ldRoom, t: { ...ldRoom.t, metadata: {} } }] },
    headers: { "ngsild-tenant": "t" },
    version: "v2",
  },
  { what: "attributes of NGSI-LD alone", body: { subscriptionId: "s", data: [ldRoom] }, version: "ld" },
  { what: "attributes of NGSI-LD with a header of v2", body: { data: [ldRoom] }, headers: orion, version: "v2" },
  {
    what: "attributes of NGSI-LD with v2 metadata",
    body: { data: [{ ...ldRoom, t: { ...ldRoom.t, metadata: {} } }] },
    version: "v2",
  },
  { what: "attributes of v2", body: { subscriptionId: "s", data: [v2Room] }, version: "v2" },
  { what: "context responses", body: { contextResponses: [] }, version: "v1" },
  { what: "context responses with a header of v2", body: { contextResponses: [] }, headers: orion, version: "v1" },
];
for (const { what, body, headers = {}, version } of cases) {
  test(`a body with ${what} is one of ${version}`, () => {
    assert.equal(versionOf(JSON.parse(JSON.stringify(body)), headers), version);
  });
}

test("auto reads each body as what it is", () => {
  const texts = [
    JSON.stringify({ type: "Notification", data: [ldRoom] }),
    JSON.stringify({ subscriptionId: "s", data: [v2Room] }),
    JSON.stringify({ contextResponses: [{ contextElement: { id: "r", type: "Room" } }] }),
  ];

  const apis = texts.map((text) => decode("auto", text, {}).entities.map(({ api }) => api));

  assert.deepEqual(apis, [[undefined], ["v2"], ["v2"]]);
});

test("auto keeps the digits of numbers that were sent by v2 and v1, not by NGSI-LD", () => {
  const texts = [
    '{"type":"Notification","data":[{"id":"urn:r","type":"Room","t":{"type":"Property","value":23.0}}]}',
    '{"data":[{"id":"r","type":"Room","t":{"type":"Number","value":23.0,"metadata":{}}}]}',
    '{"contextResponses":[{"contextElement":{"id":"r","type":"Room","attributes":[{"name":"t","value":23.0}]}}]}',
  ];

  const values = texts.map((text) => decode("auto", text, {}).entities[0]?.attributes[0]?.value.text);

  assert.deepEqual(values, ["23", "23.0", "23.0"]);
});

const plainRoom = { id: "r", type: "Room", t: 1, s: "x", o: { value: 1 } };
const ofOrion = { subscriptionId: "6b0298c15617dadf53075d7b", data: [plainRoom] };
const notification = { id: "notification:1", type: "Notification", data: [plainRoom] };
const foreign: readonly (Omit<Case, "version"> & { readonly set: "ld" | "v2" })[] = [
  { set: "ld", what: "normalized", body: { data: [v2Room] } },
  { set: "ld", what: "without metadata", body: { data: [{ ...v2Room, t: { type: "Number", value: 1 } }] } },
  { set: "ld", what: "keyValues with its header", body: { data: [plainRoom] }, headers: orion },
  { set: "ld", what: "keyValues with an id of Orion", body: ofOrion },
  { set: "ld", what: "of a bare entity", body: v2Room, headers: { "ngsiv2-attrsformat": "simplifiedNormalized" } },
  { set: "v2", what: "keyValues", body: notification, headers: orion },
  { set: "v2", what: "with a context", body: { data: [{ ...plainRoom, "@context": "urn:c" }] } },
  { set: "v2", what: "of GeoJSON", body: { data: { type: "FeatureCollection", features: [] } } },
  { set: "v2", what: "normalized", body: { data: [{ ...ldRoom, t: { ...ldRoom.t, observedAt: "2026-01-01" } }] } },
];
for (const { set, what, body, headers = {} } of foreign) {
  const other = set === "ld" ? "v2" : "LD";
  test(`with ngsi_version = ${set} a notification of NGSI ${other} ${what} is refused, with the remedy`, () => {
    const sentence = new RegExp(`it is an NGSI[ -]${other} notification; set ngsi_version of the handler to auto`);
    assert.throws(() => decode(set, JSON.stringify(body), headers), sentence);
  });
}

const v1Room = { contextResponses: [{ contextElement: { id: "r", type: "Room" } }] };
const ofOthers = [
  {
    set: "v1",
    body: { data: [v2Room] },
    says: "NGSI v2 notification; set ngsi_version of the handler to auto, or to v2",
  },
  { set: "v1", body: notification, says: "NGSI-LD notification; set ngsi_version of the handler to auto, or to ld" },
  { set: "ld", body: v1Room, says: "NGSI v1 notification; set ngsi_version of the handler to auto, or to v1" },
  { set: "v2", body: v1Room, says: "NGSI v1 notification; set ngsi_version of the handler to auto, or to v1" },
] as const;
for (const { set, body, says } of ofOthers)
  test(`with ngsi_version = ${set} the refusal says: ${says}`, () =>
    assert.throws(() => decode(set, JSON.stringify(body), {}), new RegExp(`: it is an ${says}$`)));

const accepted: readonly (Omit<Case, "version"> & { readonly set: "ld" | "v2" })[] = [
  { set: "ld", what: "keyValues in a bare envelope", body: { subscriptionId: "s", data: [plainRoom] } },
  { set: "ld", what: "Orion-LD with the header of v2", body: notification, headers: orion },
  { set: "ld", what: "an object like an attribute of v2 as a value", body: { type: "Notification", data: [v2Room] } },
  { set: "ld", what: "a geometry", body: { data: [{ ...plainRoom, p: { type: "Point", coordinates: [1, 2] } }] } },
  { set: "v2", what: "types of NGSI-LD", body: { data: [ldRoom] } },
  { set: "v2", what: "values like attributes of NGSI-LD", body: { data: [{ ...ldRoom, x: 1 }] }, headers: orion },
];
for (const { set, what, body, headers = {} } of accepted) {
  test(`with ngsi_version = ${set} a body that may be meant is read: ${what}`, () =>
    assert.equal(decode(set, JSON.stringify(body), headers).entities.length, 1));
}
