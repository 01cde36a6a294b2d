import assert from "node:assert/strict";
import { test } from "node:test";
import { decode, versionOf } from "../../../core/ngsi/decode/decode.js";
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
  { what: "a tenant of NGSI-LD", body: { data: [v2Room] }, headers: { "ngsild-tenant": "t" }, version: "ld" },
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

test("without auto, a body of another API is read as the one that is set", () => {
  const [entity] = decode("ld", JSON.stringify({ data: [v2Room] }), orion).entities;

  assert.equal(entity?.api, undefined);
});
