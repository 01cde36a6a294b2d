import assert from "node:assert/strict";
import { test } from "node:test";
import type { Part } from "../../core/agent/parts-of.js";
import { ReportedHealth } from "../../core/agent/reported-health.js";
import { StrayErrors } from "../../core/agent/stray-errors.js";
import { AgentError, definePlugin } from "../../core/sdk/index.js";
import { recordingLog } from "../support/recording-log.js";
import { settableClock } from "../support/settable-clock.js";

const kernel = new URL("../../core/pipeline/routes.js", import.meta.url).href;
const ownPlugin = new URL("../../plugins/rdb-sink/index.js", import.meta.url).href;

const declared = { kind: "sink", summary: "S.", stability: "beta", config: {} } as const;
const create = () => {
  throw new Error("is not created");
};
const wild = definePlugin({ ...declared, type: "wild", create });
const inner = definePlugin({ ...declared, type: "inner", create });
const own = definePlugin({ ...declared, type: "rdb", create });

function strays(names: readonly string[] = ["k"]) {
  const clock = settableClock();
  const { log, lines } = recordingLog();
  const counted: string[] = [];
  const abandoned: string[] = [];
  const parts = names.map((name): Part & { reported: ReportedHealth } => ({
    name,
    definition: wild,
    config: {},
    reported: new ReportedHealth(clock),
    abandon: () => abandoned.push(name),
  }));
  const plugins = [
    { definition: wild, origin: "/p/wild/index.js", folder: "/p/wild" },
    { definition: inner, origin: "/p/wild/inner/index.js", folder: "/p/wild/inner" },
    { definition: own, origin: "rdb" },
  ];
  const count = (plugin: string, component: string) => counted.push(`${plugin} ${component}`);
  const made = new StrayErrors({ plugins, parts: () => parts, log, count, now: clock.now });
  return { made, parts, lines, counted, abandoned };
}

function thrown<E extends Error>(error: E, ...places: readonly string[]): E {
  error.stack = [`${error.name}: ${error.message}`, ...places.map((place) => `    at ${place}`)].join("\n");
  return error;
}

const stranger = "file:///p/wild/lib/client.js:3:5";
const cases = [
  { says: "with a frame of a plugin on top", error: thrown(new Error("x"), `f (${stranger})`), takes: true },
  { says: "with a frame without a function", error: thrown(new Error("x"), stranger), takes: true },
  { says: "behind an await", error: thrown(new Error("x"), `async f (${stranger})`), takes: true },
  { says: "with a path in place of an address", error: thrown(new Error("x"), "f (/p/wild/a b.cjs:1:2)"), takes: true },
  {
    says: "that Node threw for a plugin",
    error: thrown(new Error("x"), "read (node:fs:1:2)", "lib (/p/node_modules/lib/i.js:1:2)", `f (${stranger})`),
    takes: true,
  },
  {
    says: "whose message throws when it is read",
    error: Object.defineProperty(thrown(new Error("x"), `f (${stranger})`), "message", {
      get: () => {
        throw new Error("unreadable");
      },
    }),
    takes: true,
  },
  { says: "of the kernel", error: thrown(new TypeError("x"), `f (${kernel}:1:2)`), takes: false },
  {
    says: "of the kernel that a plugin called",
    error: thrown(new TypeError("x"), `f (${kernel}:1:2)`, `g (${stranger})`),
    takes: false,
  },
  {
    says: "that the kernel throws for a plugin's argument",
    error: thrown(new AgentError("METRIC_UNUSABLE", "x", { retryable: false }), `f (${kernel}:1:2)`, `g (${stranger})`),
    takes: true,
  },
  { says: "of a plugin of the program", error: thrown(new Error("x"), `f (${ownPlugin}:1:2)`), takes: false },
  { says: "without any file", error: thrown(new Error("x"), "afterConnect (node:net:1:2)"), takes: false },
  {
    says: "whose message quotes a frame of a plugin",
    error: thrown(new Error(`bad body\n    at f (${stranger})`), `f (${kernel}:1:2)`),
    takes: false,
  },
  { says: "of a folder with a longer name", error: thrown(new Error("x"), "f (/p/wilder/index.js:1:2)"), takes: false },
  { says: "that is a text", error: `at f (${stranger})`, takes: false },
  { says: "that is undefined", error: undefined, takes: false },
  {
    says: "whose stack cannot be read",
    error: Object.defineProperty(new Error("x"), "stack", {
      get: () => {
        throw new Error("no");
      },
    }),
    takes: false,
  },
  { says: "with a stack that is a number", error: Object.assign(new Error("x"), { stack: 5 }), takes: false },
];
for (const { says, error, takes } of cases)
  test(`an error ${says} ${takes ? "is of the plugin" : "ends the process"}`, () => {
    const { made, parts, counted } = strays();

    const taken = made.take(error);

    assert.equal(taken, takes);
    assert.deepEqual(counted, takes ? ["wild k"] : []);
    assert.equal(parts[0]?.reported.strays.size, takes ? 1 : 0);
  });

test("a plugin within the folder of another one is the one that is meant", () => {
  const { made, counted } = strays();

  made.take(thrown(new Error("x"), "f (/p/wild/inner/index.js:1:2)"));

  assert.deepEqual(counted, ["inner "]);
});

test("of several components of a plugin each is named, and no call is ended", () => {
  const { made, lines, counted, abandoned } = strays(["k1", "k2"]);

  made.take(thrown(new Error("x"), `f (${stranger})`));

  assert.deepEqual([counted, abandoned], [["wild k1", "wild k2"], []]);
  assert.deepEqual(lines[0]?.fields, {
    plugin: "wild",
    folder: "/p/wild",
    components: ["k1", "k2"],
    reason: "x",
    at: stranger,
    count: 1,
  });
});

test("the calls of the only component are ended", () => {
  const { made, abandoned } = strays();

  made.take(thrown(new Error("x"), `f (${stranger})`));

  assert.deepEqual(abandoned, ["k"]);
});

test("a plugin that throws all the time is counted each time, and logged once a minute", () => {
  const { made, lines, counted } = strays();

  for (let time = 0; time < 1000; time += 1) made.take(thrown(new Error(`x${time}`), `f (${stranger})`));
  made.stop();

  assert.deepEqual([counted.length, lines.length], [1000, 2]);
});
