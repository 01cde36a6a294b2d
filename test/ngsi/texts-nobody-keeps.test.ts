import assert from "node:assert/strict";
import { test } from "node:test";
import { decode, keepNotification, notificationCodec } from "../../core/ngsi/index.js";
import { keptTextOf, textCodecs } from "../../core/sdk/index.js";

test("the text of a notification is kept from the moment on that a channel asks for what reads it", () => {
  const text = JSON.stringify({ type: "Notification", data: [{ id: "urn:a", type: "A" }] });
  const keptNow = () => {
    const notification = decode("ld", text, {});
    keepNotification(notification, text, { version: "ld", headers: {} });
    return keptTextOf(notification.entities[0])?.text;
  };

  const before = keptNow();
  textCodecs();
  const none = keptNow();
  textCodecs([notificationCodec]);

  assert.deepEqual([before, none, keptNow()], [undefined, undefined, text]);
});
