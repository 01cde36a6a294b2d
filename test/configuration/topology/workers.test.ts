import assert from "node:assert/strict";
import { test } from "node:test";
import { isShareable, topologyOfWorker, workerFaults } from "../../../core/configuration/topology/workers.js";
import type { SourceNode, Topology } from "../../../core/configuration/topology.js";
import type { AnyPlugin, Schema } from "../../../core/sdk/index.js";

const common = { summary: "For tests.", stability: "stable", config: {}, create: () => ({}) } as const;

function plugin(kind: AnyPlugin["kind"], more: Partial<AnyPlugin> = {}): AnyPlugin {
  return { ...common, kind, type: "t", ...more };
}

function node(name: string, definition: AnyPlugin, config: Readonly<Record<string, unknown>> = {}) {
  return { name, definition, config, slots: {} };
}

function source(name: string, more: Partial<AnyPlugin> = {}): SourceNode {
  const selector = node("selector", plugin("selector"));
  return { ...node(name, plugin("source", more)), channels: ["c"], interceptors: [], selector };
}

const batching = { batchSize: 1, batchTimeout: 30, batchTtl: 0, batchRetryIntervals: [1] };
const shared = source("shared", { workers: () => "each" });
const single = source("single");

function topology(more: Partial<Topology> = {}): Topology {
  const sinks = [{ ...node("k", plugin("sink")), channel: "c", batching }];
  return { agent: "a", sources: [shared, single], channels: [node("c", plugin("channel"))], sinks, ...more };
}

const sourcesOf = (number: number, receives = true) =>
  topologyOfWorker(topology(), { number, receives }).sources.map(({ name }) => name);

test("a source that cannot share its port runs in the first worker only", () => {
  assert.deepEqual(sourcesOf(1), ["shared", "single"]);
  assert.deepEqual(sourcesOf(2), ["shared"]);
});

test("a worker that only stores what it has runs no source", () => {
  assert.deepEqual(sourcesOf(1, false), []);
});

test("several workers can receive by a source that each of them runs, or from a log that they share", () => {
  assert.equal(isShareable(topology()), true);
  assert.equal(isShareable(topology({ sources: [single] })), false);
  const log = node("c", plugin("channel", { feeders: "others" }));
  assert.equal(isShareable(topology({ sources: [], channels: [log] })), true);
});

const folder: Schema = { dataDirs: { doc: "Folders.", format: "words", default: [], resource: "folder" } };

test("a channel with a folder of its own is refused, and one without is not", () => {
  const definition = plugin("channel", { config: folder });
  const faultsOf = (dataDirs: readonly string[]) =>
    workerFaults(topology({ channels: [node("c", definition, { dataDirs })] }), 4).map(({ reason }) => reason);

  assert.deepEqual(faultsOf([]), []);
  assert.deepEqual(faultsOf(["/data"]), [
    'cannot run beside each other: channel "c" has a folder of its own (dataDirs); change that, or run one worker',
  ]);
});

test("a fault names what has asked for the workers: the property of the file, or the option", () => {
  const channels = [node("c", plugin("channel", { config: folder }), { dataDirs: ["/data"] })];
  const keysOf = (workers: number) => workerFaults(topology({ channels, workers: 4 }), workers).map(({ key }) => key);

  assert.deepEqual(keysOf(4), ["a.workers"]);
  assert.deepEqual(keysOf(2), ["DENEB_WORKERS or --workers"]);
});

test("a sink that says why it runs in one process is refused with that reason", () => {
  const one = plugin("sink", { workers: () => ({ one: "writes a file" }) });
  const [fault] = workerFaults(topology({ sinks: [{ ...node("k", one), channel: "c", batching }] }), 4);

  assert.equal(fault?.key, "DENEB_WORKERS or --workers");
  assert.equal(fault?.value, "4");
  assert.match(fault?.reason ?? "", /sink "k" writes a file/);
});
