import assert from "node:assert/strict";
import { test } from "node:test";
import { KnownForms } from "../../../core/ngsi/forms/known-forms.js";
import { decode, type NgsiVersion, type Notification } from "../../../core/ngsi/index.js";
import { heapUsed } from "../../support/heap-used.js";

const limits = {
  max_name_length: 60,
  max_attributes: 1000,
  max_entities: 1000,
  max_depth: 512,
  max_number_length: 40,
};

/** With options of its own, so that it knows no form. */
function decodeAnew(version: NgsiVersion, text: string, headers: Record<string, string>): Notification {
  return decode(version, text, headers, { ...limits });
}

/** Reads as the decoder does, and says whether the form was known. */
class Reader {
  readonly forms = new KnownForms(limits.max_name_length);

  read(text: string, version: "ld" | "v2" = "ld", headers = {}): { notification: Notification; isKnown: boolean } {
    const known = this.forms.read(text, version, headers);
    if (known !== undefined) return { notification: known, isKnown: true };
    const read = (one: string) => decodeAnew(version, one, headers);
    const notification = read(text);
    this.forms.missed(text, { version, headers, read });
    return { notification, isKnown: false };
  }
}

const room = (id: string, temperature: unknown, subscriptionId = "urn:s:1", more = {}) =>
  JSON.stringify({
    id: "urn:ngsi-ld:Notification:1",
    type: "Notification",
    subscriptionId,
    notifiedAt: "2026-01-15T10:20:30.123Z",
    data: [{ id, type: "Room", temperature: { type: "Property", value: temperature, unitCode: "CEL" }, ...more }],
  });

test("the form of a subscription is learned from its second notification, and reads the third", () => {
  const reader = new Reader();

  const known = [1, 2, 3].map((number) => reader.read(room(`urn:room:${number}`, 20 + number)).isKnown);

  assert.deepEqual(known, [false, false, true]);
});

test("a notification of a known form is read as it is by itself", () => {
  const reader = new Reader();
  for (let number = 0; number < 3; number += 1) reader.read(room("urn:room:1", number + 0.5));

  const { notification, isKnown } = reader.read(room("urn:room:2", 21.5));

  assert.ok(isKnown);
  assert.deepEqual(notification, decodeAnew("ld", room("urn:room:2", 21.5), {}));
});

test("notifications of one subscription with other attributes have forms of their own", () => {
  const reader = new Reader();
  const wet = { humidity: { type: "Property", value: 0.5 } };
  for (let number = 0; number < 2; number += 1) {
    reader.read(room("urn:room:1", number));
    reader.read(room("urn:room:1", number, "urn:s:1", wet));
  }
  reader.read(room("urn:room:1", 3, "urn:s:1", wet));

  const dry = reader.read(room("urn:room:1", 4));
  const both = reader.read(room("urn:room:1", 5, "urn:s:1", wet));

  assert.deepEqual([dry.isKnown, both.isKnown], [true, true]);
  const namesIn = ({ entities }: Notification) => entities[0]?.attributes.map(({ name }) => name);
  assert.deepEqual(namesIn(dry.notification), ["temperature"]);
  assert.deepEqual(namesIn(both.notification), ["temperature", "humidity"]);
});

test("a form is not used for another API, or with other headers that say how a notification is read", () => {
  const reader = new Reader();
  const text = '{"subscriptionId":"1","data":[{"id":"a","type":"T","t":{"dataset":{"@none":1}}}]}';
  const concise = { "ngsild-attribute-format": "simplified" };
  for (let number = 0; number < 3; number += 1) reader.read(text);

  assert.equal(reader.read(text).isKnown, true);
  assert.equal(reader.read(text, "ld", concise).isKnown, false);
  assert.equal(reader.read(text, "v2").isKnown, false);
});

test("an id and a number that are longer than their limits are refused in a notification of a known form", () => {
  const reader = new Reader();
  for (let number = 0; number < 3; number += 1) reader.read(room("urn:room:1", number));
  const long = `urn:${"x".repeat(60)}`;
  const digits = `1${"0".repeat(40)}`;
  const withNumber = room("urn:room:1", 7).replace('"value":7', `"value":${digits}`);

  assert.throws(() => reader.read(room(long, 1)), { code: "LIMIT_EXCEEDED", message: /max_name_length/ });
  assert.throws(() => reader.read(withNumber), { code: "LIMIT_EXCEEDED", message: /max_number_length/ });
});

test("text that is no JSON is refused also where it looks like a known form", () => {
  const reader = new Reader();
  for (let number = 0; number < 3; number += 1) reader.read(room("urn:room:1", number));
  for (const wrong of ["01", "1.", "-", "1.2.3", ".5", "1e", "+1"]) {
    const text = room("urn:room:1", 7).replace('"value":7', `"value":${wrong}`);
    assert.throws(() => reader.read(text), { code: "MALFORMED_JSON" }, wrong);
  }
  assert.throws(() => reader.read(room("urn:room\u00011", 1).replaceAll("\\u0001", "\u0001")), {
    code: "MALFORMED_JSON",
  });
});

test("what many subscriptions sent is forgotten, and read by itself", () => {
  const reader = new Reader();
  const before = heapUsed();

  for (let number = 0; number < 20_000; number += 1) {
    const text = room("urn:room:1", number, `urn:s:${number >> 1}${"x".repeat(1000)}`);
    assert.equal(reader.read(text).notification.entities[0]?.attributes[0]?.value.text, String(number));
  }

  const kept = heapUsed() - before;
  assert.ok(kept < 12_000_000, `${kept} bytes kept`);
});

test("ids that are remembered do not keep the texts of notifications of a known form", () => {
  const reader = new Reader();
  const more = Object.fromEntries(
    Array.from({ length: 20 }, (_, at) => [`a${at}`, { type: "Property", value: "x".repeat(300) }]),
  );
  const text = (number: number) => room(`urn:ngsi-ld:Device:${number}`, number, "urn:s:1", more);
  for (let number = 0; number < 3; number += 1) reader.read(text(number));
  const before = heapUsed();

  const remembered = Array.from({ length: 2000 }, (_, number) => {
    const { notification, isKnown } = reader.read(text(number));
    assert.ok(isKnown);
    return notification.entities[0]?.id;
  });

  const kept = heapUsed() - before;
  assert.ok(kept < 2_000_000, `${kept} bytes kept`);
  assert.equal(remembered.at(-1), "urn:ngsi-ld:Device:1999");
});

test("a text that is mostly something else than its entities is read by itself: entities would keep all of it", () => {
  const reader = new Reader();
  const padded = () => room("urn:room:1", 1).replace("{", `{${" ".repeat(2000)}`);

  const known = [1, 2, 3, 4].map(() => reader.read(padded()).isKnown);

  assert.deepEqual(known, [false, false, false, false]);
  for (let number = 0; number < 3; number += 1) reader.read(room("urn:room:1", number));
  const withLongId = room("urn:room:1", 1).replace("urn:ngsi-ld:Notification:1", "x".repeat(3000));
  assert.equal(reader.read(withLongId).isKnown, false);
});

test("parts that notifications of a form share cannot be changed", () => {
  const reader = new Reader();
  for (let number = 0; number < 3; number += 1) reader.read(room("urn:room:1", true));
  const attribute = reader.read(room("urn:room:2", true)).notification.entities[0]?.attributes[0];

  assert.ok(attribute !== undefined && Object.isFrozen(attribute.value));
});
