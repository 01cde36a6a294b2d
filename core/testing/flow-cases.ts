import assert from "node:assert/strict";
import { inspect, isDeepStrictEqual } from "node:util";
import { isRecord } from "../sdk/event.js";
import { eventFault } from "../sdk/event-fault.js";
import { frozen } from "../sdk/frozen.js";
import { type AnyPlugin, codeOf, type Handler, type InboundRequest, type Kind, type Selection } from "../sdk/index.js";
import { asKind, channels, faultText, inRoom, type Room } from "./component-fixture.js";
import { failure } from "./expectations.js";
import { markedEvent } from "./marked-event.js";
import { called } from "./plugin-calls.js";
import type { AcceptedRequest, ConformanceCase, PluginSetup } from "./plugin-setup.js";

/** What a handler, an interceptor and a selector do with what they are given; no cases for the other kinds. */
export function flowCases(definition: AnyPlugin, setup: PluginSetup): readonly ConformanceCase[] {
  const accepted = definition.kind === "handler" && setup.accepted !== undefined ? acceptedFlows(setup.accepted) : [];
  return [...(flows[definition.kind] ?? []), ...accepted].map(({ name, walk }) => ({
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
    async walk(create) {
      const handler = asKind("handler", create(), ["decode"]);
      await assertRejected(() => handler.decode({ ...request, receivedAt: new Date(0) }), request);
    },
  })),
  interceptor: [
    {
      name: "an event is never changed: another one is made, or none",
      async walk(create) {
        const interceptor = asKind("interceptor", create(), ["intercept"]);
        const event = markedEvent("a");
        const copy = structuredClone(event);

        const made = await called("intercept", () => interceptor.intercept(event, new AbortController().signal));

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
      async walk(create) {
        const selector = asKind("selector", create(), ["select"]);
        for (const headers of [{}, { "fiware-service": "other" }, markedEvent("a").headers]) {
          assertSelection(await called("select", () => selector.select(frozen({ headers, body: { id: "a" } }))));
        }
      },
    },
  ],
  "sink-processor": [
    {
      name: "only sinks of the group are named, and each once at the most",
      async walk(create) {
        const processor = asKind("sink-processor", create(), ["order", "succeeded", "failed"]);
        const sinks = ["k1", "k2", "k3"] as const;
        for (const given of [sinks, sinks.slice(0, 1)])
          for (const after of [() => {}, () => processor.failed("k1"), () => processor.succeeded(given.at(-1) ?? "")]) {
            await called("failed or succeeded", after);
            assertOrder(await called("order", () => processor.order(frozen([...given]))), given);
          }
      },
    },
  ],
};

/** The names of the cases about requests that a handler accepts. */
export const acceptedCase = "a request that the handler accepts is made into events, with the same bodies each time";

function acceptedFlows(accepted: readonly AcceptedRequest[]): readonly Flow[] {
  return [
    {
      name: acceptedCase,
      async walk(create) {
        const handler = asKind("handler", create(), ["decode"]);
        if (accepted.length === 0) throw failure("accepted of the setup has no request");
        for (const one of accepted) assertDecoded(await called("decode", () => decodedTwice(handler, one)));
      },
    },
  ];
}

function decodedTwice(handler: Handler, { method = "POST", path = "/notify", headers = {}, body }: AcceptedRequest) {
  const request = { method, path, headers, receivedAt: new Date(0) };
  return [0, 1].map((): unknown => handler.decode({ ...request, body: Buffer.from(body) }));
}

function assertDecoded(results: readonly unknown[]): void {
  const [first, second] = results.map(bodiesIn);
  if (isDeepStrictEqual(first, second)) return;
  throw failure("decode makes other bodies of the same request at its second call");
}

/** The bodies of what was decoded, when the agent could work with it. */
function bodiesIn(made: unknown): readonly unknown[] {
  if (!isRecord(made) || !Array.isArray(made["events"]))
    throw failure(
      `decode returns { events, service, servicePath } at once; it returned ${inspect(made, { depth: 0 })}`,
    );
  for (const name of ["service", "servicePath"])
    if (typeof made[name] !== "string")
      throw failure(`decode returns a text as ${name}; it returned ${inspect(made[name])}`);
  const events: readonly unknown[] = made["events"];
  return events.map((event) => {
    const fault = eventFault(event, { headers: {}, body: undefined });
    if (fault !== undefined) throw failure(`decode makes events, { headers, body }; it made ${faultText(fault)}`);
    return isRecord(event) ? event["body"] : undefined;
  });
}

function assertSelection(selected: Selection | undefined): void {
  const names: readonly string[] = channels;
  const lists: readonly unknown[] = [selected?.required, selected?.optional];
  const wanted = "select returns { required, optional }, two lists of channels";
  for (const list of lists) if (!Array.isArray(list)) throw failure(`${wanted}; it returned ${inspect(selected)}`);
  const unknown = lists.flat().find((name) => !names.includes(String(name)));
  if (unknown !== undefined)
    throw failure(`${wanted}; "${unknown}" is not one of the source, which are ${names.join(", ")}`);
}

function assertOrder(order: unknown, given: readonly string[]): void {
  const asked = `order(${JSON.stringify(given)}) returned ${JSON.stringify(order)}`;
  if (!Array.isArray(order)) throw failure(`${asked}, which is no list`);
  const unknown = order.find((sink) => !given.includes(sink));
  if (unknown !== undefined) throw failure(`${asked}: "${unknown}" is not a sink of the group`);
  const twice = order.find((sink, index) => order.indexOf(sink) !== index);
  if (twice !== undefined) throw failure(`${asked}: "${twice}" is named twice`);
}

/** Throws unless the call does so with a rejected request. */
async function assertRejected(
  decode: () => unknown,
  { method, path, headers, body }: (typeof garbage)[number],
): Promise<void> {
  const wanted = "decode must throw a RejectedRequest of deneb/sdk with a status of 4xx";
  const sent = `sent was ${method} ${path} ${JSON.stringify(headers)} ${JSON.stringify(Buffer.from(body).toString("latin1"))}`;
  let made: unknown;
  try {
    made = decode();
  } catch (error) {
    const status = String(Reflect.get(Object(error), "status"));
    if (codeOf(error) === "DELIVERY_REJECTED" && /^4\d\d$/.test(status)) return;
    const instead = codeOf(error) === "DELIVERY_REJECTED" ? `its status is ${status}` : "it threw another error";
    throw failure(`${wanted}; ${instead}; ${sent}`, error);
  }
  if (!(made instanceof Promise)) throw failure(`${wanted}; it threw nothing; ${sent}`);
  await made.catch(() => undefined);
  throw failure(`${wanted}; it returned a promise, and a handler returns what it makes at once; ${sent}`);
}
