import assert from "node:assert/strict";
import { test } from "node:test";
import { attributeText, isEntity } from "../../../core/ngsi/index.js";
import { NgsiRestHandler } from "../../../plugins/ngsi-rest-handler/ngsi-rest-handler.js";
import { handlerConfig, inboundRequest } from "./inbound-request.js";

const handler = new NgsiRestHandler(handlerConfig);
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;

test("each entity becomes an event, in order", () => {
  const { events, service, servicePath } = handler.decode(inboundRequest());

  assert.deepEqual({ service, servicePath }, { service: "default", servicePath: "/" });
  assert.deepEqual(
    events.map(({ body }) => body),
    [
      { id: "urn:e:1", type: "T", attributes: [attribute("number", "1")] },
      { id: "urn:e:2", type: "T", attributes: [attribute("string", "é")] },
    ],
  );
});

function attribute(kind: string, text: string) {
  return { name: "p", type: "Property", form: "normalized", value: { kind, text }, members: [] };
}

test("with attrs_format = keyValues a value that looks like an attribute is a value, and texts have no quotes", () => {
  const room = { id: "urn:r", type: "Room", isIn: "urn:b", flag: { value: 7, unitCode: "is data" }, none: null };
  const request = inboundRequest({ body: { id: "notification:1", type: "Notification", data: [room] } });
  const cellsWith = (attrs_format: "auto" | "keyValues") => {
    const { events } = new NgsiRestHandler({ ...handlerConfig, ngsi_version: "auto", attrs_format }).decode(request);
    return events.flatMap(({ body }) => (isEntity(body) ? body.attributes.map(attributeText) : []));
  };

  assert.deepEqual(cellsWith("keyValues"), ["urn:b", '{"value":7,"unitCode":"is data"}', undefined]);
  assert.deepEqual(cellsWith("auto"), ['"urn:b"', "7", "null"]);
});

test("the headers of an event tell service, path, ids and reception time", () => {
  const { events } = handler.decode(inboundRequest());

  const { "transaction-id": transactionId, sequence, ...others } = events[0]?.headers ?? {};
  assert.match(transactionId ?? "", UUID);
  assert.ok(Number(sequence) >= 1_700_000_000_123_000);
  assert.deepEqual(others, {
    "fiware-service": "default",
    "fiware-servicepath": "/",
    "fiware-correlator": transactionId,
    "subscription-id": "s",
    timestamp: "1700000000123",
  });
});

test("the events of one request share their headers but the sequence, those of two do not", () => {
  const [first, second] = handler.decode(inboundRequest()).events;
  const [other] = handler.decode(inboundRequest()).events;

  assert.deepEqual({ ...first?.headers, sequence: "" }, { ...second?.headers, sequence: "" });
  assert.notEqual(first?.headers["transaction-id"], other?.headers["transaction-id"]);
});

test("correlator, tenant and link come from the request", () => {
  const headers = {
    "content-type": "application/ld+json",
    "fiware-correlator": "c1",
    "ngsild-tenant": "t1",
    link: '<http://ctx/a.jsonld>; rel="x"',
  };

  const { events, service } = handler.decode(inboundRequest({ headers }));

  assert.equal(service, "t1");
  assert.equal(events[0]?.headers["fiware-service"], "t1");
  assert.equal(events[0]?.headers["fiware-correlator"], "c1");
  assert.equal(events[0]?.headers["link"], "http://ctx/a.jsonld");
});

test("a byte order mark before the JSON is ignored", () => {
  const body = Buffer.from(`\ufeff${JSON.stringify({ type: "Notification", data: [] })}`);

  assert.deepEqual(handler.decode(inboundRequest({ body })).events, []);
});

const contentTypes = [
  "application/json",
  "application/json;charset=utf-8",
  "Application/JSON ; Charset=UTF-8",
  'application/json; charset="utf8"; x=y',
  "application/ld+json",
  'application/ld+json; profile="http://www.w3.org/ns/json-ld#compacted"',
  "application/geo+json",
] as const;
for (const contentType of contentTypes)
  test(`content type ${contentType} is accepted`, () => {
    const { events } = handler.decode(inboundRequest({ headers: { "content-type": contentType } }));

    assert.equal(events.length, 2);
  });
