import assert from "node:assert/strict";
import { test } from "node:test";
import { TransactionMetrics } from "../../core/metrics/transaction-metrics.js";
import type { Event } from "../../core/sdk/index.js";

const receivedAt = new Date("2026-01-15T10:20:30.000Z");
const after = (milliseconds: number) => new Date(receivedAt.getTime() + milliseconds);
const event = (service: string, servicePath = "/"): Event => ({
  headers: { "fiware-service": service, "fiware-servicepath": servicePath, timestamp: String(receivedAt.getTime()) },
  body: {},
});
const incoming = (service: string, servicePath = "/", failed = false) => ({
  service,
  servicePath,
  requestBytes: 100,
  responseBytes: 7,
  failed,
});
const attempt = (events: readonly Event[], milliseconds: number, stored = true) => ({
  sink: "k1",
  events,
  startedAt: receivedAt,
  finishedAt: after(milliseconds),
  receipt: stored ? { requestBytes: 11, responseBytes: 3 } : undefined,
});

const zeros = {
  incomingTransactions: 0,
  incomingTransactionRequestSize: 0,
  incomingTransactionResponseSize: 0,
  incomingTransactionError: 0,
  incomingTransactionErrors: 0,
  serviceTime: 0,
  outgoingTransactions: 0,
  outgoingTransactionRequestSize: 0,
  outgoingTransactionResponseSize: 0,
  outgoingTransactionError: 0,
  outgoingTransactionErrors: 0,
};

test("nothing counted is an empty tree with a sum of zeros", () => {
  const metrics = new TransactionMetrics(10);

  assert.deepEqual(metrics.snapshot(), { services: {}, sum: { subservs: {}, sum: zeros } });
});

test("a persistence that succeeds on the 4th try is 4 outgoing transactions, 3 of them errors", () => {
  const metrics = new TransactionMetrics(10);
  metrics.received("s1", incoming("a", "/x"));

  for (const tries of [1, 2, 3]) metrics.attempted(attempt([event("a", "/x")], 10 * tries, false));
  metrics.attempted(attempt([event("a", "/x")], 40));

  const expected = {
    incomingTransactions: 1,
    incomingTransactionRequestSize: 100,
    incomingTransactionResponseSize: 7,
    incomingTransactionError: 0,
    incomingTransactionErrors: 0,
    serviceTime: 25,
    outgoingTransactions: 4,
    outgoingTransactionRequestSize: 11,
    outgoingTransactionResponseSize: 3,
    outgoingTransactionError: 3,
    outgoingTransactionErrors: 3,
  };
  const scope = { subservs: { x: expected }, sum: expected };
  assert.deepEqual(metrics.snapshot(), { services: { a: scope }, sum: scope });
});

test("sub-services are added up within a service, over all services and all together", () => {
  const metrics = new TransactionMetrics(10);

  for (const [service, path] of [
    ["a", "/x"],
    ["a", "/y"],
    ["b", "/x"],
    ["b", "/"],
  ] as const)
    metrics.received("s1", incoming(service, path, service === "b"));

  const { services, sum } = metrics.snapshot();
  assert.deepEqual(Object.keys(services["b"]?.subservs ?? {}), ["x", ""]);
  assert.equal(services["a"]?.sum.incomingTransactions, 2);
  assert.equal(sum.subservs["x"]?.incomingTransactions, 2);
  assert.equal(sum.subservs["x"]?.incomingTransactionError, 1);
  assert.equal(sum.sum.incomingTransactions, 4);
  assert.equal(sum.sum.incomingTransactionError, 2);
});

test("the bytes of a batch are shared by the services in it and add up", () => {
  const metrics = new TransactionMetrics(10);

  metrics.attempted(attempt([event("a"), event("b"), event("a")], 5));

  const { services, sum } = metrics.snapshot();
  assert.equal(services["a"]?.sum.outgoingTransactions, 2);
  assert.equal(services["a"]?.sum.outgoingTransactionRequestSize, 7);
  assert.equal(services["b"]?.sum.outgoingTransactionRequestSize, 4);
  assert.equal(sum.sum.outgoingTransactionRequestSize, 11);
});

test("an event that a sink could not store is an error of its service", () => {
  const metrics = new TransactionMetrics(10);

  metrics.givenUp("k1", [event("a"), event("a")]);

  assert.equal(metrics.snapshot().services["a"]?.sum.incomingTransactionError, 2);
});

test("services beyond the maximum are counted together", () => {
  const metrics = new TransactionMetrics(2);

  for (const service of ["a", "b", "c", "d", "a"]) metrics.received("s1", incoming(service));

  const { services } = metrics.snapshot();
  assert.deepEqual(
    Object.entries(services).map(([name, { sum }]) => [name, sum.incomingTransactions]),
    [
      ["a", 2],
      ["b", 1],
      ["(other)", 2],
    ],
  );
});

test("a reset sets everything to zero, and a service can have any name", () => {
  const metrics = new TransactionMetrics(10);
  metrics.received("s1", incoming("__proto__"));

  const before = JSON.stringify(metrics.snapshot());
  metrics.reset();

  assert.ok(before.startsWith('{"services":{"__proto__":'));
  assert.deepEqual(metrics.snapshot().services, {});
});

test("service paths that differ only in the slash in front are one sub-service, also in one batch", () => {
  const metrics = new TransactionMetrics(10);

  metrics.attempted(attempt([event("s", "/a"), event("s", "a"), event("s", "/b")], 5));
  metrics.attempted(attempt([event("s", "/a"), event("s", "/a")], 5));
  metrics.attempted(attempt([], 5));

  const subServices = metrics.snapshot().services["s"]?.subservs ?? {};
  assert.deepEqual(
    Object.entries(subServices).map(([path, { outgoingTransactions }]) => [path, outgoingTransactions]),
    [
      ["a", 4],
      ["b", 1],
    ],
  );
});
