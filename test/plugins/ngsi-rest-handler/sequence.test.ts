import assert from "node:assert/strict";
import { test } from "node:test";
import { NgsiRestHandler } from "../../../plugins/ngsi-rest-handler/ngsi-rest-handler.js";
import { LastText, Sequence } from "../../../plugins/ngsi-rest-handler/request-numbers.js";
import { handlerConfig, inboundRequest } from "./inbound-request.js";

const at = (millis: number) => new Date(1_700_000_000_000 + millis);

test("the sequence grows within a millisecond, over it, and when the clock is set back", () => {
  const sequence = new Sequence();

  const numbers = [0, 0, 0, 1, -5000, 2].map((millis) => sequence.next(at(millis)) - 1_700_000_000_000_000);

  assert.deepEqual(numbers, [0, 1, 2, 1000, 1001, 2000]);
});

test("a sequence that is made later, as after a restart, continues above the earlier one", () => {
  const earlier = new Sequence();
  const last = [0, 0, 0].map(() => earlier.next(at(0))).at(-1) ?? 0;

  assert.ok(new Sequence().next(at(1)) > last);
});

test("a source without a clock does not stop the sequence", () => {
  const sequence = new Sequence();

  sequence.next(new Date(Number.NaN));

  assert.equal(sequence.next(at(0)), 1_700_000_000_000_000);
});

test("each event has the next number of the sequence, also over two handlers", () => {
  const sequence = new Sequence();
  const handlers = [new NgsiRestHandler(handlerConfig, sequence), new NgsiRestHandler(handlerConfig, sequence)];

  const events = handlers.flatMap((handler) => handler.decode(inboundRequest()).events);

  assert.deepEqual(
    events.map(({ headers }) => headers["sequence"]),
    ["1700000000123000", "1700000000123001", "1700000000123002", "1700000000123003"],
  );
});

test("the text of a number that grows is that of the number", () => {
  const texts = new LastText();
  const numbers = [
    1, 999, 1000, 1001, 12_345, 1_700_000_000_123_000, 1_700_000_000_123_999, 1_700_000_000_124_007, 1000,
  ];

  assert.deepEqual(
    numbers.map((number) => texts.ofGrowing(number)),
    numbers.map(String),
  );
});

const data = [{ id: "urn:e:1", type: "T", p: { type: "Property", value: 1 } }];
const texts = [
  { says: "are those of the notification", notifiedAt: "2026-01-01T12:00:00Z", kept: true },
  { says: "are left out where one is longer than a header", notifiedAt: "2".repeat(4097), kept: false },
  { says: "are left out where one is no text", notifiedAt: 5, kept: false },
  { says: "are absent as they are in NGSI v2", notifiedAt: undefined, kept: false },
] as const;

for (const { says, notifiedAt, kept } of texts)
  test(`subscription and time of an event ${says}`, () => {
    const handler = new NgsiRestHandler(handlerConfig, new Sequence());

    const [event] = handler.decode(inboundRequest({ body: { subscriptionId: "urn:s:1", notifiedAt, data } })).events;

    assert.equal(event?.headers["subscription-id"], "urn:s:1");
    assert.equal(event?.headers["notified-at"], kept ? notifiedAt : undefined);
  });
