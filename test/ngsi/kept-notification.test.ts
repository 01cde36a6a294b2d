import assert from "node:assert/strict";
import { test } from "node:test";
import { decode, keepNotification, type NgsiVersion, notificationCodec } from "../../core/ngsi/index.js";
import { keptTextOf, textCodecs } from "../../core/sdk/index.js";

// As a channel that keeps texts does.
textCodecs([notificationCodec]);

const room = { id: "urn:ngsi-ld:Room:1", type: "Room" };
const ld = (entity: object) => ({ id: "urn:n:1", type: "Notification", subscriptionId: "s", data: [entity] });
const v2 = (entity: object) => ({ subscriptionId: "5fa2b6c7d8e9f0a1b2c3d4e5", data: [entity] });
const simplified = { "ngsild-attribute-format": "simplified" };

interface Form {
  readonly form: string;
  readonly version: NgsiVersion;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly attrs_format?: "keyValues";
}

const forms: readonly Form[] = [
  {
    form: "normalized NGSI-LD with a sub-attribute",
    version: "ld",
    text: JSON.stringify(
      ld({ ...room, t: { type: "Property", value: 1, unitCode: "CEL", accuracy: { type: "Property", value: 2 } } }),
    ),
  },
  {
    form: "pretty-printed NGSI-LD",
    version: "auto",
    text: JSON.stringify(ld({ ...room, t: { type: "Property", value: { a: [1, null] } } }), undefined, 2),
  },
  { form: "simplified NGSI-LD", version: "ld", text: JSON.stringify(ld({ ...room, t: "warm" })), headers: simplified },
  {
    form: "keyValues as the configuration says",
    version: "auto",
    text: JSON.stringify(ld({ ...room, t: "warm" })),
    attrs_format: "keyValues",
  },
  {
    form: "NGSI v2 with metadata",
    version: "v2",
    text: JSON.stringify(v2({ id: "r", type: "Room", t: { type: "Number", value: 1, metadata: {} } })),
    headers: { "ngsiv2-attrsformat": "normalized", "content-type": "application/json" },
  },
  {
    form: "a bare entity of NGSI v2",
    version: "auto",
    text: JSON.stringify({ id: "r", type: "Room", t: "warm" }),
    headers: { "ngsiv2-attrsformat": "simplifiedKeyValues" },
  },
  {
    form: "numbers with more digits than JavaScript has",
    version: "ld",
    text: '{"type":"Notification","data":[{"id":"urn:a","type":"A","n":{"type":"Property","value":12345678901234567890.10}}]}',
  },
  {
    form: "a byte order mark, half a surrogate pair and characters beyond ASCII",
    version: "ld",
    text: '\ufeff{"type":"Notification","data":[{"id":"urn:ä😀","type":"A","n":{"type":"Property","value":"\\ud800"}}]}',
  },
];

for (const { form, version, text, headers = {}, attrs_format } of forms)
  test(`an entity is read again from the text that was kept, equal to the first time: ${form}`, () => {
    const notification = decode(version, text, headers, attrs_format && { ...limits, attrs_format });
    const [entity] = notification.entities;

    keepNotification(notification, text, { version, headers: { ...headers, other: "x" }, attrs_format });

    const kept = keptTextOf(entity);
    assert.ok(kept);
    assert.equal(kept.codec, notificationCodec.name);
    const stored = Buffer.from(kept.text).toString();
    assert.deepEqual(notificationCodec.decode(stored, kept.options), entity);
  });

const limits = {
  max_name_length: 100,
  max_attributes: 100,
  max_entities: 100,
  max_depth: 100,
  max_number_length: 100,
};

test("what one notification is read with is not that of the one before", () => {
  const bare = JSON.stringify(ld({ ...room, t: "warm" }));
  const optionsWith = (headers: Readonly<Record<string, string>>) => {
    const notification = decode("ld", bare, headers);
    keepNotification(notification, bare, { version: "ld", headers });
    return JSON.parse(keptTextOf(notification.entities[0])?.options ?? "").headers;
  };

  assert.deepEqual(optionsWith(simplified), simplified);
  assert.deepEqual(optionsWith({}), {});
  assert.deepEqual(optionsWith({ ...simplified, other: "x" }), simplified);
});

test("the text of several entities is kept for none of them", () => {
  const text = JSON.stringify({ ...ld(room), data: [room, { ...room, id: "urn:ngsi-ld:Room:2" }] });
  const notification = decode("ld", text, {});

  keepNotification(notification, text, { version: "ld", headers: {} });

  assert.deepEqual(notification.entities.map(keptTextOf), [undefined, undefined]);
});

test("a kept text of several entities is refused", () => {
  const text = JSON.stringify({ ...ld(room), data: [room, room] });

  assert.throws(() => notificationCodec.decode(text, '{"version":"ld","headers":{}}'), { code: "NOT_ONE_ENTITY" });
});
