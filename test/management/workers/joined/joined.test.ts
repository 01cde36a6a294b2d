import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../../core/agent/live/merge-patch.js";
import { mergedArrivals } from "../../../../core/management/workers/arrivals.js";
import { mergedInOrder } from "../../../../core/management/workers/joined/merged-in-order.js";
import { mergedStatistics } from "../../../../core/management/workers/joined/statistics.js";
import { transactions } from "../../../../core/management/workers/joined/transactions.js";
import { mergedVerification } from "../../../../core/management/workers/joined/verification.js";
import { mergedDocument } from "../../../../core/management/workers/live/live-document.js";
import { mergedReadiness } from "../../../../core/management/workers/probes.js";
import { since, viewOf } from "../running-team.js";

const views = [viewOf(1), viewOf(2)];
const told = (bodies: readonly JsonObject[]) => bodies.map((body, at) => ({ worker: viewOf(at + 1), body }));
const stats = (...all: readonly JsonObject[]) =>
  Object(mergedStatistics(told(all.map((one) => ({ success: "true", stats: one }))), { workers: views })).stats;

const channel = { name: "c", status: "START", setup_time: "2026-01-15T10:00:02.000Z", num_puts_ok: 1 };

test("of a channel the longest wait counts with what is known of it, and the rest is summed", () => {
  const { channels } = stats(
    {
      channels: [
        { ...channel, capacity: 10, bytes: 5, oldest_event_seconds: 3, oldest_event_exact: true },
        { ...channel, name: "only", num_events: 4 },
      ],
    },
    {
      channels: [
        {
          ...channel,
          status: "ERROR",
          setup_time: "2026-01-15T10:00:01.000Z",
          capacity: 10,
          oldest_event_seconds: 7,
          oldest_event_exact: false,
        },
      ],
    },
  );

  assert.deepEqual(channels, [
    {
      name: "c",
      status: "ERROR",
      setup_time: "2026-01-15T10:00:01.000Z",
      num_puts_ok: 2,
      capacity: 20,
      bytes: 5,
      oldest_event_seconds: 7,
      oldest_event_exact: false,
    },
    { ...channel, name: "only", num_events: 4 },
  ]);
});

test("the services with most are those of all workers, ten at most", () => {
  const services = (start: number, more: number) =>
    Array.from({ length: 8 }, (_, index) => ({
      service: `s${start + index}`,
      num_events: more + index,
      bytes: 1,
    }));

  const { channels } = stats(
    { channels: [{ ...channel, largest_services: services(0, 10) }] },
    { channels: [{ ...channel, largest_services: services(4, 20) }] },
  );

  const [{ largest_services: largest }] = channels;
  assert.equal(largest.length, 10);
  assert.deepEqual(largest[0], { service: "s7", num_events: 40, bytes: 2 });
});

test("the health of a component is the worst, with the findings of all workers", () => {
  const finding = (reason: string) => ({ state: "down", reason, since: "2026-01-15T10:00:00.000Z" });

  const { health } = stats(
    { health: [{ kind: "sink", name: "k", state: "up", findings: [] }] },
    { health: [{ kind: "sink", name: "k", state: "down", findings: [finding("the store is away")] }] },
  );

  assert.deepEqual(health, [
    { kind: "sink", name: "k", state: "down", findings: [finding("worker 2: the store is away")] },
  ]);
});

const reloads = [
  {
    given: [
      { time: "b", ok: true },
      { time: "a", ok: true },
    ],
    merged: { time: "b", ok: true },
  },
  {
    given: [
      { time: "b", ok: true },
      { time: "a", ok: false },
    ],
    merged: { time: "b", ok: false },
  },
  { given: [undefined, { time: "a", ok: true }], merged: { time: "a", ok: true } },
  { given: [undefined, undefined], merged: undefined },
] as const;

for (const { given, merged } of reloads)
  test(`the last reload of ${JSON.stringify(given)} is ${JSON.stringify(merged)}`, () => {
    const { last_reload: last } = stats(...given.map((one) => ({ last_reload: one })));

    assert.deepEqual(last, merged);
  });

test("dead letters are summed by sink, with the oldest of all; those that agents share count once", () => {
  const { dead_letters: letters } = stats(
    {
      dead_letters: [
        { sink: "k", num_waiting: 2, oldest: "2026-01-15T10:00:02.000Z" },
        { sink: "log", num_waiting: 5, shared: true },
      ],
    },
    {
      dead_letters: [
        { sink: "k", num_waiting: 3, oldest: "2026-01-15T10:00:01.000Z" },
        { sink: "log", num_waiting: 5, shared: true },
      ],
    },
  );

  assert.deepEqual(letters, [
    { sink: "k", num_waiting: 5, oldest: "2026-01-15T10:00:01.000Z" },
    { sink: "log", num_waiting: 5, shared: true },
  ]);
});

test("a mean time is that of all writes, whichever worker made them", () => {
  const of = (outgoingTransactions: number, serviceTime: number) => ({ outgoingTransactions, serviceTime });
  const service = (one: JsonObject) => ({ subservs: { "/": one }, sum: one });
  const given = (one: JsonObject) => ({ services: { s: service(one) }, sum: service(one) });

  const merged = transactions([given(of(1, 10)), given(of(3, 30)), given(of(0, 0))]);

  assert.deepEqual(merged, given(of(4, 25)));
  assert.deepEqual(transactions([given(of(0, 0))]), given(of(0, 0)));
});

test("obstacles and warnings have their worker before the component", () => {
  const entry = { component: "k", reason: "down", since: "2026-01-15T10:00:00.000Z" };
  const gone = { ...viewOf(3), state: "restarting" as const, reason: "it ended" };

  const merged = mergedReadiness([
    { worker: viewOf(1), body: { status: "ready", warnings: [entry] } },
    { worker: viewOf(2), body: { status: "not ready", obstacles: [entry] } },
    { worker: gone, body: undefined },
  ]);

  assert.deepEqual(merged, {
    status: "not ready",
    obstacles: [
      { ...entry, component: "worker 2: k" },
      { component: "worker 3", reason: "restarting: it ended", since: since.toISOString() },
    ],
    warnings: [{ ...entry, component: "worker 1: k" }],
  });
});

test("what several workers say of their stores is said once, and a table is not counted twice", () => {
  const of = (rows: number, ...differences: readonly string[]) => ({
    verification: {
      ok: differences.length === 0,
      channels: [{ name: "c", received: 1, store: { events: 1, expected: 1, difference: 0 } }],
      tables: [{ sink: "k", table: "t", rows }],
      differences,
      unknown: [],
      notes: ["not compared"],
    },
  });

  const { verification } = Object(mergedVerification(told([of(7), of(8, "lost 1")]), ["worker 3 is away"]));

  assert.deepEqual(verification, {
    ok: false,
    channels: [{ name: "c", received: 2, store: { events: 2, expected: 2, difference: 0 } }],
    tables: [{ sink: "k", table: "t", rows: 8 }],
    differences: ["worker 2: lost 1"],
    unknown: ["worker 3 is away"],
    notes: ["workers 1, 2: not compared"],
  });
});

test("a live document has sums of counts and rates, and of times those that matter", () => {
  const document = (ready: boolean, state: JsonObject): JsonObject => ({
    agent: { name: "a", ready, revision: 3, arrivals: { on: !ready } },
    components: { "channel:c": state },
    dead_letters: { "letters:k": { sink: "k", waiting: 1 } },
  });

  const merged: JsonObject = mergedDocument(
    [
      {
        worker: viewOf(1),
        document: document(true, { in: 1, in_per_second: 12.34, health: "up", oldest: "b", oldest_exact: true }),
      },
      {
        worker: viewOf(2),
        document: document(false, {
          in: 2,
          in_per_second: 0.1,
          health: "degraded",
          findings: [{ reason: "slow" }],
          oldest: "a",
          oldest_exact: false,
          seconds_until_full: 9,
          ledger: { received: 4, stored: 3 },
        }),
      },
    ],
    { team: { workers: views }, started: "s", revision: 1, time: "t" },
  );

  const { agent, components, dead_letters: letters } = Object(merged);
  assert.deepEqual([agent.name, agent.ready, agent.started, agent.revision], ["a", false, "s", 1]);
  assert.deepEqual([agent.arrivals, agent.workers[1].stored], [{ on: true }, 3]);
  assert.deepEqual(components["channel:c"], {
    in: 3,
    in_per_second: 12.4,
    health: "degraded",
    findings: [{ reason: "worker 2: slow" }],
    seconds_until_full: 9,
    ledger: { received: 4, stored: 3 },
    oldest: "a",
    oldest_exact: false,
  });
  assert.deepEqual(letters, { "letters:k": { sink: "k", waiting: 2 } });
});

test("samples of what arrives are in the order of time, and the last says how far each was read", () => {
  const entry = (seq: number, second: number) => ({ seq, time: `2026-01-15T10:00:0${second}.000Z` });
  const sample = (last: number, ...arrivals: readonly JsonObject[]) => ({
    on: true,
    seen: { accepted: arrivals.length, refused: 0 },
    skipped: 1,
    last,
    arrivals,
  });

  const merged = mergedArrivals(told([sample(6, entry(5, 1), entry(6, 4)), sample(9, entry(9, 2))]), new Map(), 2);

  assert.deepEqual(merged, {
    on: true,
    seen: { accepted: 3, refused: 0 },
    skipped: 2,
    last: "1-1001-5.2-1002-9",
    arrivals: [
      { ...entry(5, 1), seq: 1_000_000_005, worker: 1 },
      { ...entry(9, 2), seq: 2_000_000_009, worker: 2 },
    ],
  });
});

test("lists become one in an order that keeps that of each", () => {
  assert.deepEqual(
    mergedInOrder(
      [
        [1, 9, 2],
        [3, 4],
      ],
      (one, other) => one - other,
    ),
    [1, 3, 4, 9, 2],
  );
});
