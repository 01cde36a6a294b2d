import assert from "node:assert/strict";
import { eventsOf } from "../sdk/errors.js";
import { eventFault } from "../sdk/event-fault.js";
import { type AnyPlugin, codeOf, type Event, type InboundRequest, type Kind, retryableOf } from "../sdk/index.js";
import { asKind, channels, faultText, inRoom, type Room } from "./component-fixture.js";
import { assertStored, failure, rejectsAs } from "./expectations.js";
import { frozen, markedEvent } from "./marked-event.js";
import type { ConformanceCase, PluginSetup } from "./plugin-setup.js";
import { marked, never, type SinkBench, type SinkCase } from "./sink-cases.js";

/** What a sink does when data will never go in: it refuses the whole batch, and takes the good events by themselves. */
export const poisonCases: readonly SinkCase[] = (
  [
    { where: "first", marks: ["bad", "a", "b"] },
    { where: "in the middle", marks: ["a", "bad", "b"] },
    { where: "last", marks: ["a", "b", "bad"] },
    { where: "alone", marks: ["bad"] },
  ] as const
).map(({ where, marks }) => ({
  name: `an event that will never go in, ${where}, fails the batch for good and leaves nothing of it behind, or is named`,
  async run({ store, start }) {
    const sink = await start();
    const events = marks.map((mark) =>
      mark === "bad" ? (store.poisoned?.(marked(mark)) ?? marked(mark)) : marked(mark),
    );

    const error = await sink.persist({ events }, never).then(
      () => {
        throw failure("persist must fail with retryable false; it did not fail");
      },
      (cause: unknown) => cause,
    );
    const failed = namedIn(error, events);
    if (failed.some(([, says]) => says !== false)) {
      throw failure("persist must fail with retryable false for every event that is not stored", error);
    }
    const isFailed = new Set(failed.map(([event]) => event));
    assertStored(
      await store.readBack(),
      marks.filter((_, index) => !isFailed.has(events[index])),
    );
    for (const [index, event] of events.entries()) {
      if (marks[index] !== "bad" && isFailed.has(event)) await sink.persist({ events: [event] }, never);
    }

    assertStored(
      await store.readBack(),
      marks.filter((mark) => mark !== "bad"),
    );
  },
}));

/** The events that failed and whether each may pass; all of them for an error that names none. */
function namedIn(error: unknown, events: readonly Event[]): readonly (readonly [unknown, boolean | undefined])[] {
  const named = eventsOf(error);
  const says = retryableOf(error);
  if (named instanceof Map) return [...named].map(([event, own]) => [event, retryableOf(own) ?? says]);
  const list: readonly unknown[] = Array.isArray(named) ? named : events;
  return list.map((event) => [event, says]);
}

/** What a sink does when the store is not available at its start. */
export const unreachableCases: readonly SinkCase[] = [
  {
    name: "a sink starts while its store is not available, and a write fails retryably",
    async run({ store, start }) {
      const sink = await start({ ...store.config, ...store.unreachable });

      await rejectsAs(sink.persist({ events: [marked("a")] }, never), "persist", { retryable: true });
    },
  },
];

const MOST_TRIES = 5;

/** What a sink does when the store goes away between two writes. */
export const interruptCases: readonly SinkCase[] = [
  {
    name: "after its connections were ended, the same batch goes in within a few tries",
    async run({ store, start }) {
      const sink = await start();
      await sink.persist({ events: [marked("a1")] }, never);
      await store.interrupt?.();

      await untilStored(sink, marked("a2"));

      const stored = await store.readBack();
      assert.deepEqual([...new Set(stored)], ["a1", "a2"]);
    },
  },
];

/** Stores the event within a few tries. */
export async function untilStored(sink: Awaited<ReturnType<SinkBench["start"]>>, event: ReturnType<typeof marked>) {
  for (let attempt = 1; ; attempt++) {
    try {
      await sink.persist({ events: [event] }, never);
      return;
    } catch (error) {
      if (retryableOf(error) === false) throw failure("a lost connection is no bad data: it is retryable", error);
      if (attempt === MOST_TRIES) throw error;
    }
  }
}

/** What a handler, an interceptor and a selector do with what they are given; no cases for the other kinds. */
export function flowCases(definition: AnyPlugin, setup: PluginSetup): readonly ConformanceCase[] {
  return (flows[definition.kind] ?? []).map(({ name, walk }) => ({
    name,
    run: () => inRoom(async (room) => walk(() => created(definition, setup, room))),
  }));
}

interface Flow {
  readonly name: string;
  walk(create: () => unknown): void | Promise<void>;
}

function created(definition: AnyPlugin, { config }: PluginSetup, room: Room): unknown {
  return room.create(definition, config?.(room.folder) ?? {});
}

const garbage: readonly Omit<InboundRequest, "receivedAt">[] = [
  { method: "POST", path: "/notify", headers: {}, body: new Uint8Array() },
  { method: "POST", path: "/notify", headers: { "content-type": "application/json" }, body: Buffer.from("{") },
  { method: "POST", path: "/notify", headers: { "content-type": "application/json" }, body: Buffer.from("null") },
  { method: "POST", path: "/notify", headers: { "content-type": "application/json" }, body: Buffer.from([255, 254]) },
  { method: "BREW", path: "/..%00", headers: { "content-type": "" }, body: Buffer.from("[]") },
];

const flows: { readonly [K in Kind]?: readonly Flow[] } = {
  handler: garbage.map((request, index) => ({
    name: `a request without a notification is rejected with a status of 4xx (${index + 1} of ${garbage.length})`,
    walk(create) {
      const handler = asKind("handler", create(), ["decode"]);
      assertRejected(() => handler.decode({ ...request, receivedAt: new Date(0) }), request);
    },
  })),
  interceptor: [
    {
      name: "an event is never changed: another one is made, or none",
      async walk(create) {
        const interceptor = asKind("interceptor", create(), ["intercept"]);
        const event = markedEvent("a");
        const copy = structuredClone(event);

        const made = await interceptor.intercept(event, new AbortController().signal);

        assert.deepEqual(event, copy);
        if (made === undefined) return;
        const fault = Array.isArray(made) ? { is: "a list" } : eventFault(made, event);
        if (fault !== undefined)
          throw failure(`intercept returns an event, { headers, body }, or undefined; it returned ${faultText(fault)}`);
        assert.deepEqual(JSON.parse(JSON.stringify(made.body)), made.body, "the body survives JSON");
        for (const name of Object.keys(made.headers))
          assert.equal(name, name.toLowerCase(), "names of headers are lower case");
      },
    },
  ],
  selector: [
    {
      name: "only channels of the source are chosen, and no event is changed",
      walk(create) {
        const selector = asKind("selector", create(), ["select"]);
        const names: readonly string[] = channels;
        for (const headers of [{}, { "fiware-service": "other" }, markedEvent("a").headers]) {
          const { required, optional } = selector.select(frozen({ headers, body: { id: "a" } }));
          assert.deepEqual(
            [...required, ...optional].filter((name) => !names.includes(name)),
            [],
          );
        }
      },
    },
  ],
  "sink-processor": [
    {
      name: "only sinks of the group are named, and each once at the most",
      walk(create) {
        const processor = asKind("sink-processor", create(), ["order", "succeeded", "failed"]);
        const sinks = ["k1", "k2", "k3"] as const;
        for (const given of [sinks, sinks.slice(0, 1)])
          for (const after of [() => {}, () => processor.failed("k1"), () => processor.succeeded(given.at(-1) ?? "")]) {
            after();
            assertOrder(processor.order(frozen([...given])), given);
          }
      },
    },
  ],
};

function assertOrder(order: unknown, given: readonly string[]): void {
  const asked = `order(${JSON.stringify(given)}) returned ${JSON.stringify(order)}`;
  if (!Array.isArray(order)) throw failure(`${asked}, which is no list`);
  const unknown = order.find((sink) => !given.includes(sink));
  if (unknown !== undefined) throw failure(`${asked}: "${unknown}" is not a sink of the group`);
  const twice = order.find((sink, index) => order.indexOf(sink) !== index);
  if (twice !== undefined) throw failure(`${asked}: "${twice}" is named twice`);
}

/** Throws unless the call does so with a rejected request. */
function assertRejected(decode: () => unknown, { method, path, headers, body }: (typeof garbage)[number]): void {
  const wanted = "decode must throw a RejectedRequest of deneb/sdk with a status of 4xx";
  const sent = `sent was ${method} ${path} ${JSON.stringify(headers)} ${JSON.stringify(Buffer.from(body).toString("latin1"))}`;
  try {
    decode();
  } catch (error) {
    const status = String(Reflect.get(Object(error), "status"));
    if (codeOf(error) === "DELIVERY_REJECTED" && /^4\d\d$/.test(status)) return;
    const instead = codeOf(error) === "DELIVERY_REJECTED" ? `its status is ${status}` : "it threw another error";
    throw failure(`${wanted}; ${instead}; ${sent}`, error);
  }
  throw failure(`${wanted}; it threw nothing; ${sent}`);
}
