import assert from "node:assert/strict";
import { test } from "node:test";
import { QuotaBuckets } from "../../core/pipeline/quota-buckets.js";
import { ServiceQuota } from "../../core/pipeline/service-quota.js";
import { codeOf, type Event, reasonOf, retryAfterOf, retryableOf } from "../../core/sdk/index.js";
import type { SourceQuota } from "../../core/tokens.js";

const usual: SourceQuota = { usual: { eventsPerSecond: 10, burst: 20 }, services: {}, mostServices: 5 };

/** A quota over a clock that a test sets. */
function quotaWith(quota: Partial<SourceQuota> = {}, buckets = new QuotaBuckets()) {
  const clock = { now: 1000 };
  const made = (of: SourceQuota) => new ServiceQuota({ source: "s1", quota: of, buckets, now: () => clock.now });
  const limits = { ...usual, ...quota };
  const accepted = async (service: string, events: number, by = made(limits)): Promise<boolean> => {
    try {
      await by.counted(service, events, async () => {});
      return true;
    } catch (error) {
      assert.equal(codeOf(error), "QUOTA_EXCEEDED");
      return false;
    }
  };
  const refusalOf = async (service: string, events: number): Promise<unknown> => {
    try {
      await made(limits).counted(service, events, async () => {});
    } catch (error) {
      return error;
    }
    return undefined;
  };
  return { clock, accepted, refusalOf, buckets, quota: made(limits), made, limits };
}

test("a service may send its burst at once, then as many events as its quota fills", async () => {
  const { clock, accepted } = quotaWith();

  assert.equal(await accepted("a", 20), true);
  assert.equal(await accepted("a", 1), false);
  clock.now += 500;
  assert.equal(await accepted("a", 5), true);
  assert.equal(await accepted("a", 1), false);
  clock.now += 3_600_000;
  assert.equal(await accepted("a", 20), true);
  assert.equal(await accepted("a", 1), false);
});

test("what one service uses up is no other's, and spellings that differ in case are one service", async () => {
  const { accepted } = quotaWith();

  assert.equal(await accepted("a", 20), true);
  assert.equal(await accepted("A", 1), false);
  assert.equal(await accepted("b", 20), true);
});

test("a notification of more events than the burst is accepted from a full bucket, and paid for by waiting", async () => {
  const { clock, accepted } = quotaWith();

  assert.equal(await accepted("a", 50), true);
  clock.now += 3000;
  assert.equal(await accepted("a", 1), false);
  clock.now += 100;
  assert.equal(await accepted("a", 1), true);
});

test("a notification without events counts as one", async () => {
  const { accepted } = quotaWith({ usual: { eventsPerSecond: 1, burst: 1 } });

  assert.equal(await accepted("a", 0), true);
  assert.equal(await accepted("a", 0), false);
});

test("a refusal says after how many milliseconds the same notification is accepted, at most an hour", async () => {
  const { refusalOf, accepted, clock } = quotaWith({ services: { slow: { eventsPerSecond: 1, burst: 100_000 } } });
  await accepted("a", 20);

  const refusal = await refusalOf("a", 5);
  assert.equal(retryAfterOf(refusal), 500);
  assert.equal(retryableOf(refusal), true);
  assert.match(reasonOf(refusal), /^source "s1" accepts 10 events per second, 20 at once of service "a", and these/);
  clock.now += 500;
  assert.equal(await accepted("a", 5), true);

  await accepted("slow", 100_000);
  assert.equal(retryAfterOf(await refusalOf("slow", 100_000)), 3_600_000);
});

test("a service with a quota of its own has that one, one with none has no limit, and 0 accepts nothing", async () => {
  const services = {
    big: { eventsPerSecond: 1000, burst: 1000 },
    free: undefined,
    blocked: { eventsPerSecond: 0, burst: 1 },
  };
  const { accepted, refusalOf } = quotaWith({ services });

  assert.equal(await accepted("BIG", 1000), true);
  for (let times = 0; times < 10; times += 1) assert.equal(await accepted("free", 1000), true);
  assert.equal(await accepted("blocked", 0), false);
  assert.equal(retryAfterOf(await refusalOf("blocked", 1)), 3_600_000);
});

test("without a usual quota only the named services have a limit", async () => {
  const { accepted, buckets } = quotaWith({ usual: undefined, services: { a: { eventsPerSecond: 1, burst: 1 } } });

  assert.equal(await accepted("a", 1), true);
  assert.equal(await accepted("a", 1), false);
  for (let at = 0; at < 1000; at += 1) assert.equal(await accepted(`other${at}`, 1000), true);
  assert.equal(buckets.others, 0);
});

test("what the channels refuse is not counted", async () => {
  const { quota, accepted } = quotaWith();

  await assert.rejects(
    quota.counted("a", 20, () => Promise.reject(new Error("full"))),
    /full/,
  );
  assert.equal(await accepted("a", 20), true);
});

test("100,000 invented services get no more than the services that are counted by themselves, and one more", async () => {
  const { clock, accepted, buckets } = quotaWith({
    mostServices: 50,
    services: { named: { eventsPerSecond: 5, burst: 5 } },
  });
  let total = 0;
  for (let at = 0; at < 100_000; at += 1) {
    if (await accepted(`invented${at}`, 20)) total += 20;
    clock.now += 0.5;
  }
  const seconds = 50;

  assert.ok(total <= 51 * (20 + 10 * seconds), `${total} events were accepted`);
  assert.ok(total > 20 * 50, `${total} events were accepted`);
  assert.equal(await accepted("named", 5), true, "a service that the configuration names has its own");
  assert.ok(buckets.others <= 50, `${buckets.others} buckets`);
});

test("with most_services 0 all services without a quota of their own share one", async () => {
  const { accepted } = quotaWith({ mostServices: 0 });

  assert.equal(await accepted("a", 15), true);
  assert.equal(await accepted("b", 5), true);
  assert.equal(await accepted("c", 1), false);
});

test("a changed quota goes on with what was used, and a new burst is not a gift", async () => {
  const { clock, accepted, made, limits } = quotaWith();
  await accepted("a", 20);

  const larger = made({ ...limits, usual: { eventsPerSecond: 100, burst: 1000 } });
  assert.equal(await accepted("a", 1, larger), false);
  clock.now += 1000;
  assert.equal(await accepted("a", 100, larger), true);
  const smaller = made({ ...limits, services: { a: { eventsPerSecond: 1, burst: 2 } } });
  clock.now += 60_000;
  assert.equal(await accepted("a", 2, smaller), true);
  assert.equal(await accepted("a", 1, smaller), false);
  assert.equal(await accepted("a", 1), false, "also when its entry is removed again");
});

const of = (service: string): Event => ({ headers: { "fiware-service": service }, body: 1 });

test("what a source without a handler emits is counted by the services of its events, as a whole", async () => {
  const { quota, accepted } = quotaWith();
  const emitted: unknown[] = [];
  const emit = quota.limited(async (events) => void emitted.push(...events));

  await emit([...Array.from({ length: 15 }, () => of("a")), of("b")]);
  await assert.rejects(
    emit([of("b"), ...Array.from({ length: 6 }, () => of("a"))]),
    (error) => codeOf(error) === "QUOTA_EXCEEDED",
  );

  assert.equal(emitted.length, 16);
  assert.equal(await accepted("b", 19), true, "the refused part of service b was given back");
});

test("what is no list of events is left to the check of the channels", async () => {
  const { quota } = quotaWith();
  const malformed: ReturnType<typeof JSON.parse> = [{ headers: null }];

  await assert.rejects(quota.limited(() => Promise.reject(new Error("no events")))(malformed), /no events/);
});

test("names of members of objects are names of services like others", async () => {
  const { accepted } = quotaWith({ mostServices: 100 });

  for (const service of ["__proto__", "constructor", "toString", "", "\u0000", "ß", "ä".repeat(50)]) {
    assert.equal(await accepted(service, 20), true, service);
    assert.equal(await accepted(service, 1), false, service);
  }
});
