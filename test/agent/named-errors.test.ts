import assert from "node:assert/strict";
import { test } from "node:test";
import type { Running } from "../../core/agent/component.js";
import { startComponent } from "../../core/agent/component-runner.js";
import { createComponent } from "../../core/agent/create-component.js";
import { ReportedHealth } from "../../core/agent/reported-health.js";
import { Receiver } from "../../core/pipeline/receiver.js";
import { AgentError, codeOf, definePlugin, reasonOf } from "../../core/sdk/index.js";
import { recordingLog } from "../support/recording-log.js";
import { settableClock } from "../support/settable-clock.js";

const definition = definePlugin({
  kind: "channel",
  type: "mine",
  summary: "For tests.",
  stability: "beta",
  config: {},
  create: () => {
    throw new Error("is not created");
  },
});

const starts = [
  {
    says: "a message that names nothing gets kind, name and type",
    error: new Error("no route"),
    code: "COMPONENT_NOT_STARTED",
    reason: 'starting channel "c1" of type "mine": no route',
  },
  {
    says: "a code stays",
    error: new AgentError("FOLDER_IN_USE", "locking", { retryable: false }),
    code: "FOLDER_IN_USE",
    reason: 'starting channel "c1" of type "mine": locking',
  },
  {
    says: "a message that names the component stays as it is",
    error: new AgentError("TIMED_OUT", 'starting channel "c1" took too long', { retryable: true }),
    code: "TIMED_OUT",
    reason: 'starting channel "c1" took too long',
  },
  {
    says: "too few open files have their remedy",
    error: Object.assign(new Error("EMFILE: too many open files, open '/x'"), { code: "EMFILE" }),
    code: "EMFILE",
    reason:
      'starting channel "c1" of type "mine" (raise the limit of open files (ulimit -Hn, LimitNOFILE)): EMFILE: too many open files, open \'/x\'',
  },
  { says: "a thrown text is a reason, too", error: "no", code: "COMPONENT_NOT_STARTED", reason: /of type "mine": no$/ },
] as const;

for (const { says, error, code, reason } of starts)
  test(`of a start that fails ${says}`, async () => {
    const node = { name: "c1", definition, config: {}, slots: {} };
    const reported = new ReportedHealth(settableClock());
    const running: Running & { node: typeof node } = {
      name: "c1",
      node,
      reported,
      setupTime: new Date(0),
      status: "IDLE",
    };
    const start = async () => {
      throw error;
    };

    const thrown = await startComponent(running, { start, stop: async () => {} }).catch((one: unknown) => one);

    assert.equal(codeOf(thrown), code);
    if (typeof reason === "string") assert.equal(reasonOf(thrown), reason);
    else assert.match(reasonOf(thrown), reason);
    assert.equal(running.status, "ERROR");
  });

test("a handler that throws is named in the log, and the sender learns nothing of it", async () => {
  const { log, lines } = recordingLog();
  const receiver = new Receiver({
    name: "s1",
    handlerType: "mine",
    handler: {
      decode: () => {
        throw new TypeError("x is undefined");
      },
    },
    emit: async () => {},
    observer: { received: () => {} },
    log,
    now: () => new Date(0),
  });
  const request = { method: "POST", path: "/", headers: {}, body: new Uint8Array(), receivedAt: new Date(0) };

  const reception = await receiver.receive(request);

  assert.deepEqual(reception, {
    accepted: false,
    status: 500,
    reason: "The request could not be processed",
    cause: "handler-failed",
    headers: {},
    retryable: false,
    retryAfter: undefined,
  });
  const line = lines.find(({ level }) => level === "error");
  assert.equal(
    Reflect.get(line?.fields ?? {}, "reason"),
    'decoding a request by the handler "mine" of source "s1": x is undefined',
  );
});

test("a create that is async is named as such", () => {
  const asynchronous = { ...definition, create: async () => ({}) };
  const { log } = recordingLog();
  const context = { name: "i1", log, dataDir: "unused", run: "run", now: () => new Date(0) };
  const node = { name: "web.i1", definition: asynchronous, config: {}, slots: {} };

  const reason =
    'creating channel "web.i1" of type "mine": create returned a promise; it must return the component at once, put I/O into start';
  assert.throws(() => createComponent("channel", node, context), { code: "COMPONENT_NOT_CREATED", message: reason });
});

for (const { made, says } of [
  { made: { start: () => {}, stop: () => {}, openPut: 5 }, says: "an object without openPut, openTake" },
  { made: class Mine {}, says: "function" },
  { made: undefined, says: "undefined" },
  { made: null, says: "null" },
])
  test(`a create that returned ${says} has an error that says so, and what it must return`, () => {
    const { log } = recordingLog();
    const context = { name: "i1", log, dataDir: "unused", run: "run", now: () => new Date(0) };
    const node = { name: "c1", definition: { ...definition, create: () => made }, config: {}, slots: {} };

    const message = `creating channel "c1" of type "mine": create returned ${says}; it must return an object with the methods start, stop, openPut, openTake`;
    assert.throws(() => createComponent("channel", node, context), { code: "COMPONENT_NOT_CREATED", message });
  });

for (const { prototype, what } of [
  { prototype: Object.prototype, what: "objects" },
  { prototype: Array.prototype, what: "arrays" },
])
  test(`a create that gives all ${what} a member is named, and they have it no more`, () => {
    const adding = {
      ...definition,
      create: () => {
        Object.defineProperty(prototype, "handy", { value: () => 1, enumerable: true, configurable: true });
        return {};
      },
    };
    const { log } = recordingLog();
    const context = { name: "i1", log, dataDir: "unused", run: "run", now: () => new Date(0) };
    const node = { name: "web.i1", definition: adding, config: {}, slots: {} };

    const reason =
      'creating channel "web.i1" of type "mine": create added "handy" to Object.prototype or Array.prototype, which all objects would have; keep it out of there';
    assert.throws(() => createComponent("channel", node, context), { code: "COMPONENT_NOT_CREATED", message: reason });
    assert.ok(!("handy" in prototype));
  });

test("a component whose members throw when they are read is named", () => {
  const sink = {
    start: async () => {},
    stop: async () => {},
    persist: async () => ({ requestBytes: 0, responseBytes: 0 }),
    get tuning(): never {
      throw new Error("not connected yet");
    },
  };
  const { log } = recordingLog();
  const context = { name: "k1", log, dataDir: "unused", run: "run", now: () => new Date(0) };
  const node = {
    name: "k1",
    definition: { ...definition, kind: "sink" as const, create: () => sink },
    config: {},
    slots: {},
  };

  const create = () => createComponent("sink", node, context);

  assert.throws(create, (error) => reasonOf(error) === 'creating sink "k1" of type "mine": not connected yet');
});

for (const { tuning, fault } of [
  {
    tuning: { largestBatch: "many" },
    fault: 'its tuning.largestBatch is "many"; it must be a whole number, 1 or more',
  },
  { tuning: { largestBatch: 0 }, fault: "its tuning.largestBatch is 0; it must be a whole number, 1 or more" },
  {
    tuning: { batchLinger: -3 },
    fault: `its tuning.batchLinger is -3; it must be milliseconds, 0 or more, or "under-load"`,
  },
  { tuning: 5, fault: "its tuning is 5; it must be an object" },
])
  test(`a sink with the tuning ${JSON.stringify(tuning)} is not created, and says what is wrong`, () => {
    const made = { start: async () => {}, stop: async () => {}, persist: async () => ({}), tuning };
    const sink = { ...definition, kind: "sink" as const, create: () => made };
    const { log } = recordingLog();
    const context = { name: "k1", log, dataDir: "unused", run: "run", now: () => new Date(0) };
    const node = { name: "k1", definition: sink, config: {}, slots: {} };

    const message = `creating sink "k1" of type "mine": ${fault}`;
    assert.throws(() => createComponent("sink", node, context), { code: "COMPONENT_NOT_CREATED", message });
  });
