import assert from "node:assert/strict";
import { test } from "node:test";
import { serviceKey } from "../../../../core/sdk/channel/index.js";
import type { Event } from "../../../../core/sdk/index.js";
import { serviceOfText } from "../../../../plugins/file-channel/log/stored-event.js";

const service = { "fiware-service": "OpenIoT" };
const body = { "fiware-service": "body", headers: { "fiware-service": "nested" } };

const events: readonly (Event & { readonly says: string })[] = [
  { says: "the service first", headers: { ...service, other: "x" }, body },
  { says: "the service last", headers: { other: "x", ...service }, body },
  { says: "no service", headers: { other: "x" }, body },
  { says: "no header", headers: {}, body },
  { says: "an empty service", headers: { "fiware-service": "" }, body },
  { says: "a value that looks like the service", headers: { other: '","fiware-service":"fake"}', ...service }, body },
  { says: "a name that looks like the service", headers: { 'x":"y","fiware-service': "fake", ...service }, body },
  { says: "quotes and backslashes in the service", headers: { "fiware-service": 'a"\\b' }, body },
  { says: "a line break and another alphabet", headers: { "fiware-service": "ä\n€😀" }, body },
  { says: "half a surrogate pair", headers: { "fiware-service": "\ud800" }, body },
  { says: "a header longer than what is looked at", headers: { long: "ä".repeat(5000), ...service }, body },
  { says: "a service at the end of what is looked at", headers: { long: "x".repeat(470), ...service }, body },
  { says: "a service longer than what is looked at", headers: { "fiware-service": "x".repeat(5000) }, body },
  { says: "a text as body", headers: service, body: "x" },
];

for (const { says, headers, body: content } of events)
  test(`the service of a text is that of its event: ${says}`, () => {
    const event = { headers, body: content };
    for (const ordered of [event, { body: content, headers }]) {
      const read: Event = JSON.parse(JSON.stringify(ordered));
      assert.equal(serviceOfText(Buffer.from(JSON.stringify(ordered))), serviceKey(read));
    }
  });
