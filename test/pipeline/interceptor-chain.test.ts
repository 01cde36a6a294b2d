import assert from "node:assert/strict";
import { test } from "node:test";
import { ChannelProcessor } from "../../core/pipeline/channel-processor.js";
import { codeOf, type Event, type Interceptor, retryableOf } from "../../core/sdk/index.js";
import { MemoryChannel } from "../../plugins/memory-channel/memory-channel.js";
import { recordingLog } from "../support/recording-log.js";

const event: Event = { headers: { "fiware-service": "s" }, body: { id: "a" } };
const cycle: { self?: unknown } = {};
cycle.self = cycle;

/** What a plugin written in JavaScript may do. */
function returning(made: unknown): Interceptor {
  const interceptor: { intercept: (event: Event) => Event | undefined } = { intercept: () => undefined };
  Reflect.set(interceptor, "intercept", () => made);
  return interceptor;
}

function processor(interceptor: Interceptor) {
  const { log, lines } = recordingLog();
  const config = { capacity: 100, transactionCapacity: 100, "keep-alive": 0 };
  const channel = new MemoryChannel(config, { name: "c", log, dataDir: "unused", run: "run", now: () => new Date(0) });
  const made = new ChannelProcessor({
    interceptors: [{ interceptor, title: '"odd"' }],
    selector: { select: () => ({ required: ["c"], optional: [] }) },
    channels: new Map([["c", channel]]),
    log,
  });
  return { made, channel, lines };
}

const cases = [
  { returned: Promise.resolve("text"), is: "a string" },
  { returned: Promise.resolve({ ...event, body: 1n }), is: "a bigint" },
  { returned: "text", is: "a string" },
  { returned: null, is: "null" },
  { returned: 5, is: "a number" },
  { returned: {}, is: "an object without headers" },
  { returned: { headers: {}, other: 1 }, is: "an event without body" },
  { returned: { headers: null, body: 1 }, is: "an object without headers" },
  { returned: { headers: [], body: 1 }, is: "an event with a list as headers" },
  { returned: { headers: { a: 1 }, body: 1 }, is: 'an event with a number as header ("a")' },
  { returned: { headers: { a: undefined }, body: 1 }, is: 'an event with undefined as header ("a")' },
  { returned: { ...event, body: undefined }, is: "an event with undefined in its body in place" },
  { returned: { ...event, body: { a: [1n] } }, is: 'an event with a bigint in its body ("a.0")' },
  { returned: { ...event, body: { a: () => 1 } }, is: 'an event with a function in its body ("a")' },
  { returned: { ...event, body: { a: Number.NaN } }, is: 'a number that JSON cannot hold in its body ("a")' },
  { returned: { ...event, body: [undefined] }, is: 'an event with undefined in its body ("0")' },
  { returned: { ...event, body: new Date(0) }, is: "an object of a class (Date) in its body in place" },
  { returned: { ...event, body: new Map() }, is: "an object of a class (Map) in its body in place" },
  { returned: { ...event, body: cycle }, is: "or that contains itself" },
];
for (const { returned, is } of cases)
  test(`an interceptor that makes ${is} is named, and nothing of the notification is put`, async () => {
    const { made, channel } = processor(returning(returned));

    await assert.rejects(made.emit([event]), (error: Error) => {
      assert.deepEqual([codeOf(error), retryableOf(error)], ["EVENT_MALFORMED", false]);
      assert.ok(error.message.startsWith('interceptor "odd" returned '), error.message);
      assert.ok(error.message.includes(is), error.message);
      return true;
    });

    assert.equal(channel.size, 0);
  });

for (const member of ["headers", "body"])
  test(`an interceptor that makes an event whose ${member} cannot be read is named, and nothing of the notification is put`, async () => {
    const get = () => {
      throw new Error("not to be read");
    };
    const { made, channel, lines } = processor(returning(Object.defineProperty({ ...event }, member, { get })));

    await assert.rejects(made.emit([event]), { code: "INTERCEPTOR_FAILED", message: 'interceptor "odd" failed' });

    assert.equal(channel.size, 0);
    assert.deepEqual(
      lines.map(({ fields }) => Reflect.get(fields, "reason")),
      ["not to be read"],
    );
  });

for (const when of ["at once", "later"])
  test(`an interceptor that writes a number into the headers of its event and returns it ${when} is named`, async () => {
    const interceptor = returning(undefined);
    Reflect.set(interceptor, "intercept", (one: Event) => {
      Reflect.set(one.headers, "fiware-service", 5);
      return when === "at once" ? one : Promise.resolve(one);
    });
    const { made, channel } = processor(interceptor);

    await assert.rejects(made.emit([{ headers: { ...event.headers }, body: event.body }]), {
      code: "EVENT_MALFORMED",
      message: /^interceptor "odd" returned an event with a number as header \("fiware-service"\)/,
    });

    assert.equal(channel.size, 0);
  });

test("events before the malformed one are not put either", async () => {
  let calls = 0;
  const interceptor = returning(undefined);
  Reflect.set(interceptor, "intercept", (one: Event) => {
    calls += 1;
    return calls === 2 ? "text" : one;
  });
  const { made, channel } = processor(interceptor);

  await assert.rejects(made.emit([event, event]));

  assert.equal(channel.size, 0);
});

test("what JSON can hold passes", async () => {
  const body = { a: [1, "x", null, true, { b: undefined }], c: Object.create(null) };
  const { made, channel } = processor(returning({ headers: { x: "y" }, body }));

  await made.emit([event]);

  assert.equal(channel.size, 1);
});

test("each fault is logged for the first time and at powers of ten, with the count", async () => {
  const { made, lines } = processor(returning("text"));

  for (let time = 0; time < 100; time += 1) await assert.rejects(made.emit([event]));

  const counts = lines.filter(({ level }) => level === "error").map(({ fields }) => Reflect.get(fields, "count"));
  assert.deepEqual(counts, [1, 10, 100]);
});
