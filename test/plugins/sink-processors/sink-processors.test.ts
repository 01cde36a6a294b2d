import assert from "node:assert/strict";
import { test } from "node:test";
import plugins from "../../../plugins/sink-processors/index.js";
import { FailoverProcessor, LoadBalanceProcessor } from "../../../plugins/sink-processors/processors.js";

const [byDefault, failover, loadBalance] = plugins;
const sinks = ["a", "b", "c"];

function clock() {
  let milliseconds = 0;
  return {
    now: () => new Date(milliseconds),
    pass: (passed: number) => {
      milliseconds += passed;
    },
  };
}

test("failover: the highest priority comes first, sinks without one last in the order of the group", () => {
  const processor = new FailoverProcessor({ priority: { c: "5", b: "-7" }, maxpenalty: 30_000 }, clock());

  assert.deepEqual(processor.order(["x", "a", "b", "c"]), ["c", "b", "x", "a"]);
});

test("failover: a sink that fails in a row is passed over for 2 s, 4 s, ... up to maxpenalty, then has its place again", () => {
  const time = clock();
  const processor = new FailoverProcessor({ priority: { a: "2", b: "1" }, maxpenalty: 5000 }, time);
  const secondsUntilFirst: number[] = [];

  for (let round = 0; round < 4; round += 1) {
    processor.failed("a");
    let seconds = 0;
    for (; processor.order(["a", "b"])[0] !== "a"; seconds += 1) time.pass(1000);
    secondsUntilFirst.push(seconds);
  }
  processor.succeeded("a");
  processor.failed("a");
  time.pass(2000);

  assert.deepEqual(secondsUntilFirst, [2, 4, 5, 5]);
  assert.deepEqual(processor.order(["a", "b"]), ["a", "b"]);
});

test("failover: a clock that is set back ends a penalty, which could last as long as the clock was set back", () => {
  const time = clock();
  const processor = new FailoverProcessor({ priority: { a: "2", b: "1" }, maxpenalty: 30_000 }, time);
  time.pass(3_600_000);
  processor.failed("a");
  const before = processor.order(["a", "b"]);

  time.pass(-3_600_000);

  assert.deepEqual(
    [before, processor.order(["a", "b"])],
    [
      ["b", "a"],
      ["a", "b"],
    ],
  );
});

test("failover: when all have failed they are tried nevertheless, first the one whose penalty ends first", () => {
  const time = clock();
  const processor = new FailoverProcessor({ priority: { a: "2", b: "1" }, maxpenalty: 30_000 }, time);
  processor.failed("b");
  time.pass(1);
  processor.failed("a");

  assert.deepEqual(processor.order(["a", "b"]), ["b", "a"]);
});

test("failover: an unknown sink, no number and an equal priority are faults at their own keys", () => {
  const priority = { a: "1", d: "2", b: "high", c: "01" };

  const faults = failover.check?.({ priority, maxpenalty: 1 }, sinks);

  assert.deepEqual(
    faults?.map(({ property, reason }) => `${property}: ${reason}`),
    [
      'priority.d: "d" is not a sink of the group; its sinks are: a, b, c',
      'priority.b: "high" must be a whole number',
      'priority.c: is the priority of "a", too; give another one',
    ],
  );
});

test("load balancing: each batch begins one sink further", () => {
  const config = { selector: "round_robin", backoff: false, "selector.maxTimeOut": 30_000 } as const;
  const processor = new LoadBalanceProcessor(config, clock(), () => 0);

  const orders = [1, 2, 3, 4].map(() => processor.order(sinks).join(""));

  assert.deepEqual(orders, ["abc", "bca", "cab", "abc"]);
});

test("load balancing: at random every sink is in the order once", () => {
  const config = { selector: "random", backoff: false, "selector.maxTimeOut": 30_000 } as const;
  const chances = [0.5, 0.1, 0.9];
  const processor = new LoadBalanceProcessor(config, clock(), () => chances.shift() ?? 0);

  assert.deepEqual(processor.order(sinks), ["b", "a", "c"]);
});

for (const { backoff, first } of [
  { backoff: true, first: ["b", "b", "c", "b"] },
  { backoff: false, first: ["a", "b", "c", "a"] },
] as const)
  test(`load balancing with backoff = ${backoff}: a sink that failed is ${backoff ? "" : "not "}passed over`, () => {
    const config = { selector: "round_robin", backoff, "selector.maxTimeOut": 30_000 } as const;
    const processor = new LoadBalanceProcessor(config, clock(), () => 0);
    processor.failed("a");

    const chosen = [1, 2, 3, 4].map(() => processor.order(sinks)[0]);

    assert.deepEqual(chosen, first);
  });

test("default is for one sink, load_balance for two or more", () => {
  const config = { selector: "round_robin", backoff: false, "selector.maxTimeOut": 1 } as const;

  const faults = [byDefault.check?.({}, ["a"]), byDefault.check?.({}, sinks), loadBalance.check?.(config, ["a"])];

  assert.deepEqual(
    faults.map((found) => found?.map(({ property }) => property)),
    [[], ["type"], ["type"]],
  );
});
