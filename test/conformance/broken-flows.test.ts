import assert from "node:assert/strict";
import { test } from "node:test";
import { type AnyPlugin, type Kind, RejectedRequest, reasonOf } from "../../core/sdk/index.js";
import { type PluginSetup, pluginConformance } from "../../core/testing/index.js";

/** A plugin in JavaScript, whose create may return anything. */
function pluginOf(kind: Kind, made: unknown): AnyPlugin {
  return {
    kind,
    type: "broken",
    summary: "Does it wrong.",
    stability: "beta",
    apiVersion: 1,
    config: {},
    create: () => made,
  };
}

const selecting = "only channels of the source are chosen";
const rejecting = "a request without a notification is rejected with a status of 4xx (1 of 5)";
const accepting = "a request that the handler accepts";
const refused = () => {
  throw new RejectedRequest(400, "it is empty");
};
const decoded = { events: [], service: "s", servicePath: "/" };
let calls = 0;

const broken: readonly {
  readonly says: string;
  readonly plugin: AnyPlugin;
  readonly named: string;
  readonly fault: string;
}[] = [
  {
    says: "an interceptor that rejects with undefined",
    plugin: pluginOf("interceptor", { intercept: () => Promise.reject(undefined) }),
    named: "an event is never changed",
    fault: "intercept threw undefined; throw an AgentError, which says whether to try again",
  },
  {
    says: "a selector that returns a name",
    plugin: pluginOf("selector", { select: () => "c1" }),
    named: selecting,
    fault: "select returns { required, optional }, two lists of channels; it returned 'c1'",
  },
  {
    says: "a selector that chooses a channel of others",
    plugin: pluginOf("selector", { select: () => ({ required: ["c9"], optional: [] }) }),
    named: selecting,
    fault:
      'select returns { required, optional }, two lists of channels; "c9" is not one of the source, which are c1, c2',
  },
  {
    says: "a handler that returns a promise",
    plugin: pluginOf("handler", { decode: async () => refused() }),
    named: rejecting,
    fault:
      "decode must throw a RejectedRequest of deneb/sdk with a status of 4xx; " +
      'it returned a promise, and a handler returns what it makes at once; sent was POST /notify {} ""',
  },
  {
    says: "a handler that makes no list of events",
    plugin: pluginOf("handler", { decode: () => ({ service: "s", servicePath: "/" }) }),
    named: accepting,
    fault: "decode returns { events, service, servicePath } at once; it returned { service: 's', servicePath: '/' }",
  },
  {
    says: "a handler that names no service",
    plugin: pluginOf("handler", { decode: () => ({ ...decoded, service: undefined }) }),
    named: accepting,
    fault: "decode returns a text as service; it returned undefined",
  },
  {
    says: "a handler that makes an event with a number as header",
    plugin: pluginOf("handler", { decode: () => ({ ...decoded, events: [{ headers: { a: 5 }, body: "a" }] }) }),
    named: accepting,
    fault: 'decode makes events, { headers, body }; it made an event with a number as header ("a")',
  },
  {
    says: "a handler that counts its calls",
    plugin: pluginOf("handler", { decode: () => ({ ...decoded, events: [{ headers: {}, body: calls++ }] }) }),
    named: accepting,
    fault: "decode makes other bodies of the same request at its second call",
  },
];

for (const { says, plugin, named, fault } of broken)
  test(`of ${says} the case says it in a sentence`, async () => {
    const setup: PluginSetup = { accepted: [{ body: "a" }] };
    const found = (await pluginConformance(plugin, setup)).find(({ name }) => name.startsWith(named));
    assert.ok(found !== undefined);

    const reason = await found.run().then(
      () => "",
      (error: unknown) => reasonOf(error),
    );

    assert.equal(reason, fault);
  });
