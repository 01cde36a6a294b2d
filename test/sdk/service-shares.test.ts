import assert from "node:assert/strict";
import { test } from "node:test";
import { type Claim, ServiceShares } from "../../core/sdk/channel/index.js";
import { codeOf, type Event, retryableOf } from "../../core/sdk/index.js";

const of = (service: string, count: number): readonly Event[] =>
  Array.from({ length: count }, () => ({ headers: { "fiware-service": service }, body: 1 }));

const sharesOf = (percentage: number, capacity = 100, byteCapacity = 10_000) =>
  new ServiceShares({ channel: "c1", capacity, byteCapacity, percentage });

const ten = () => 10;

const claimed = (shares: ServiceShares, service: string, count: number): Claim => shares.claim(of(service, count), ten);

const refusal = (code: string, message: RegExp, retryable: boolean) => (error: Error) => {
  assert.equal(codeOf(error), code);
  assert.equal(retryableOf(error), retryable);
  assert.match(error.message, message);
  return true;
};

test("a service alone may hold its percentage of the channel", () => {
  const shares = sharesOf(50);
  claimed(shares, "a", 50);

  assert.throws(() => claimed(shares, "a", 1), refusal("CHANNEL_SHARE_FULL", /holds 50 events .* may hold 50/, true));
});

test("several services may hold less each, so that there is room for one more", () => {
  const shares = sharesOf(50);
  claimed(shares, "a", 50);
  claimed(shares, "b", 25);

  assert.throws(() => claimed(shares, "b", 1), /may hold 25 events now/);
  claimed(shares, "c", 12);
  assert.throws(() => claimed(shares, "a", 1), /may hold 31 events now/);
});

test("bytes are limited as events are", () => {
  const shares = sharesOf(50, 1_000_000, 1000);
  claimed(shares, "a", 50);

  assert.throws(() => claimed(shares, "a", 1), /CHANNEL|holds 50 events \(500 bytes\)/);
});

test("one event of a service that holds nothing always passes", () => {
  const shares = sharesOf(1, 10);
  for (const service of ["a", "b", "c"]) claimed(shares, service, 1);

  assert.throws(() => claimed(shares, "a", 1));
});

test("a notification that is larger than the part of one service is refused for good", () => {
  assert.throws(
    () => claimed(sharesOf(50), "a", 51),
    refusal("NOTIFICATION_TOO_LARGE", /service_percentage 50; raise its property "capacity"/, false),
  );
});

test("a put of several services is counted for each of them, or for none", () => {
  const shares = sharesOf(50);
  claimed(shares, "b", 50);

  assert.throws(() => shares.claim([...of("a", 1), ...of("b", 1)], ten));
  assert.deepEqual(shares.largest(5), [{ service: "b", events: 50, bytes: 500 }]);
});

test("events that were accepted before are counted and not refused", () => {
  const shares = sharesOf(50);
  const claim = shares.claim(of("a", 80), ten, "again");

  assert.throws(() => claimed(shares, "a", 1));
  shares.giveBack(claim);
  assert.deepEqual(shares.total, { events: 0, bytes: 0 });
  claimed(shares, "a", 50);
});

test("the services of which it holds most are listed first", () => {
  const shares = sharesOf(100, 1_000_000, 100_000_000);
  for (let at = 0; at < 1000; at += 1) claimed(shares, `service${at}`, 1 + ((at * 37) % 1000));

  assert.deepEqual(
    shares.largest(3).map(({ events }) => events),
    [1000, 999, 998],
  );
});

test("100,000 names and their end leave nothing behind", () => {
  const shares = sharesOf(50, 1_000_000, 100_000_000);
  const claims = Array.from({ length: 100_000 }, (_, at) => claimed(shares, `__proto__${at}`, 1));
  claims.push(claimed(shares, "__proto__", 1), claimed(shares, "constructor", 1), claimed(shares, "", 1));

  for (const claim of claims) shares.giveBack(claim);

  assert.deepEqual(shares.total, { events: 0, bytes: 0 });
  assert.deepEqual(shares.largest(10), []);
});
