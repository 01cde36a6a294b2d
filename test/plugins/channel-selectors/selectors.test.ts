import assert from "node:assert/strict";
import { test } from "node:test";
import plugins from "../../../plugins/channel-selectors/index.js";
import {
  LoadBalancingSelector,
  MultiplexingSelector,
  RoundRobinSelector,
} from "../../../plugins/channel-selectors/selectors.js";

const [, multiplexing, roundRobin] = plugins;
const channels = ["a", "b", "c"];

const routes = [
  { says: "a value with a mapping", service: "x", required: ["a"], optional: ["c"] },
  { says: "a value with two channels, named twice", service: "y", required: ["a", "b"], optional: [] },
  { says: "a value in another letter case", service: "X", required: ["c"], optional: [] },
  { says: "a value without mapping but with an optional channel", service: "z", required: ["c"], optional: ["b"] },
  {
    says: "a value that is the name of a member of every object",
    service: "constructor",
    required: ["c"],
    optional: [],
  },
  { says: "no value", service: undefined, required: ["c"], optional: [] },
] as const;
for (const { says, service, required, optional } of routes)
  test(`multiplexing: ${says} goes to ${required.join(", ")}`, () => {
    const selector = new MultiplexingSelector({
      header: "Fiware-Service",
      mapping: { x: "a", y: "a b,a" },
      default: ["c"],
      optional: { x: "a c", z: "b" },
    });

    const selection = selector.select({ headers: service === undefined ? {} : { "fiware-service": service }, body: 1 });

    assert.deepEqual(selection, { required, optional });
  });

test("multiplexing without default chooses nothing for other values", () => {
  const selector = new MultiplexingSelector({ header: "h", mapping: { x: "a" }, default: [], optional: {} });

  assert.deepEqual(selector.select({ headers: { h: "y" }, body: 1 }), { required: [], optional: [] });
});

test("multiplexing reports every name that is not a channel of the source, at its own key", () => {
  const faults = multiplexing.check?.(
    { header: "", mapping: { x: "a d", y: " , " }, default: ["e"], optional: { z: "f" } },
    channels,
  );

  assert.deepEqual(
    faults?.map(({ property, reason }) => `${property}: ${reason}`),
    [
      "header: must be the name of a header",
      'mapping.x: "d" is not a channel of the source; its channels are: a, b, c',
      "mapping.y: must name at least one channel",
      'optional.z: "f" is not a channel of the source; its channels are: a, b, c',
      'default: "e" is not a channel of the source; its channels are: a, b, c',
    ],
  );
});

test("round robin gives each storage one copy, its channels taking turns", () => {
  const lists = { storage1: "a,b", storage2: "c" };
  const selector = new RoundRobinSelector({ storages: 2, "storages.*": lists });

  const chosen = [1, 2, 3].map(() => selector.select().required);

  assert.deepEqual(chosen, [
    ["a", "c"],
    ["b", "c"],
    ["a", "c"],
  ]);
});

test("a channel whose turn it is for two storages gets one copy", () => {
  const selector = new RoundRobinSelector({ storages: 2, "storages.*": { storage1: "a", storage2: "a" } });

  assert.deepEqual(selector.select(), { required: ["a"], optional: [] });
});

test("round robin tells a missing storage, one too many and an unknown channel", () => {
  const faults = roundRobin.check?.({ storages: 2, "storages.*": { storage1: "a,d", storage3: "b" } }, channels);

  assert.deepEqual(
    faults?.map(({ property, reason }) => `${property}: ${reason}`),
    [
      "storages.storage2: must be given: the channels of this storage",
      'storages.storage1: "d" is not a channel of the source; its channels are: a, b, c',
      "storages.storage3: is no storage: there are 2, storage1 to storage2",
    ],
  );
});

test("a number of storages that is too large is one fault, not one for each storage", () => {
  const faults = roundRobin.check?.({ storages: 1_000_000, "storages.*": { storage1: "a" } }, channels);

  assert.deepEqual(faults, [{ property: "storages", reason: "must be 100 or less" }]);
});

test("load balancing gives each event to one channel, in turn or as chance has it", () => {
  const chances = [0, 0.99, 0.5];
  const inTurn = new LoadBalancingSelector({ policy: "round_robin" }, channels, () => 0);
  const atRandom = new LoadBalancingSelector({ policy: "random" }, channels, () => chances.shift() ?? 0);

  const chosen = [inTurn, atRandom].map((selector) =>
    [1, 2, 3, 4].map(() => selector.select().required.join()).join(""),
  );

  assert.deepEqual(chosen, ["abca", "acba"]);
});
