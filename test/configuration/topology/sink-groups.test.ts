import assert from "node:assert/strict";
import { test } from "node:test";
import { catalogueOf } from "../../../core/registry/discover.js";
import { definePlugin } from "../../../core/sdk/index.js";
import { faultTexts, more, read } from "../../support/configuration.js";
import { fakePlugins } from "../../support/plugins.js";

function create(): never {
  throw new Error("a plugin of the configuration tests was created");
}

const declared = { summary: "Exists for its declaration only.", stability: "stable", create } as const;
const processors = [
  definePlugin({
    ...declared,
    kind: "sink-processor",
    type: "default",
    config: {},
    check: (_, sinks = []) => (sinks.length < 2 ? [] : [{ property: "type", reason: "is for one sink" }]),
  }),
  definePlugin({
    ...declared,
    kind: "sink-processor",
    type: "failover",
    config: {
      turns: { doc: "Turns.", format: "count", default: 1 },
      "turns.*": { doc: "Turn of a sink.", format: "map", default: {} },
    },
    check: ({ "turns.*": turns }, sinks = []) =>
      Object.keys(turns)
        .filter((sink) => !sinks.includes(sink))
        .map((sink) => ({ property: `turns.${sink}` as const, reason: `is for none of ${sinks.join(", ")}` })),
  }),
];
const { catalogue } = catalogueOf(
  [...fakePlugins, ...processors].map((definition) => ({ definition, origin: "test" })),
);

/** The good file with sinks s and t at channel c, u at channel d, and more lines. */
function file(...lines: readonly string[]): string {
  return more(
    "a1.sinks.t.type = logger",
    "a1.sinks.t.channel = c",
    "a1.sinks.u.type = logger",
    "a1.sinks.u.channel = d",
    "a1.channels.d.type = memory",
    ...lines,
  )
    .replace("a1.sinks = s", "a1.sinks = s t u")
    .replace("a1.channels = c", "a1.channels = c d")
    .replace("http-source.channels = c", "http-source.channels = c d");
}

test("a group has its sinks and its processor, a number and a map of one name among the settings", () => {
  const { topology, faults } = read(
    file(
      "a1.sinkgroups = g",
      "a1.sinkgroups.g.sinks = s, t",
      "a1.sinkgroups.g.processor.type = failover",
      "a1.sinkgroups.g.processor.turns = 2",
      "a1.sinkgroups.g.processor.turns.s = 7",
    ),
    { catalogue },
  );

  assert.deepEqual(faults, []);
  assert.deepEqual(
    topology?.groups?.map(({ name, sinks, processor }) => ({ name, sinks, config: processor.config })),
    [{ name: "g", sinks: ["s", "t"], config: { turns: 2, "turns.*": { s: "7" } } }],
  );
});

const failover = "a1.sinkgroups.g.processor.type = failover";
const cases = [
  {
    says: "an unknown sink and one named twice",
    lines: ["a1.sinkgroups = g", "a1.sinkgroups.g.sinks = s s x", failover],
    faults: [
      'error line 16: a1.sinkgroups.g.sinks = "x": names no sink; the sinks are: s, t, u; did you mean "s"?',
      'error line 16: a1.sinkgroups.g.sinks = "s": is named twice; name each sink once',
    ],
  },
  {
    says: "sinks at different channels",
    lines: ["a1.sinkgroups = g", "a1.sinkgroups.g.sinks = s u", failover],
    faults: [
      'error line 16: a1.sinkgroups.g.sinks = "s u": the sinks of group "g" read from different channels: "s" from "c", "u" from "d"; give them one',
    ],
  },
  {
    says: "a sink in two groups",
    lines: [
      "a1.sinkgroups = g h",
      "a1.sinkgroups.g.sinks = s",
      "a1.sinkgroups.h.sinks = s t",
      failover.replace("g.p", "h.p"),
    ],
    faults: ['error line 17: a1.sinkgroups.h.sinks = "s": is in the group "g" already; a sink is in one group at most'],
  },
  {
    says: "a group without sinks, of an unknown processor and with the name of a sink",
    lines: ["a1.sinkgroups = t", "a1.sinkgroups.t.processor.type = failovr"],
    faults: [
      "error line 16: a1.sinkgroups.t.sinks: must be given: names of the sinks of the group, separated by blanks or commas",
      "error line 16: a1.sinkgroups.t: has the name of a sink; give the group another one",
      'error line 16: a1.sinkgroups.t.processor.type = "failovr": is no known type of sink-processor; known: default, failover; did you mean "failover"?',
    ],
  },
  {
    says: "two sinks for the processor that is taken when none is named",
    lines: ["a1.sinkgroups = g", "a1.sinkgroups.g.sinks = s t"],
    faults: ["error line 16: a1.sinkgroups.g.processor.type: is for one sink"],
  },
  {
    says: "an entry for a sink that is not in the group, at its own line",
    lines: ["a1.sinkgroups = g", "a1.sinkgroups.g.sinks = s t", failover, "a1.sinkgroups.g.processor.turns.u = 1"],
    faults: ["error line 18: a1.sinkgroups.g.processor.turns.u: is for none of s, t"],
  },
  {
    says: "sinks that want to be fed differently, and settings that nobody reads",
    lines: [
      "a1.sinkgroups = g",
      "a1.sinkgroups.g.sinks = s t",
      failover,
      "a1.sinks.t.batch_ttl = 3",
      "a1.sinkgroups.g.priority = 1",
      "a1.sinkgroups.g.Sinks = s",
      "a1.sinkgroups.h.sinks = u",
    ],
    faults: [
      'warning line 18: a1.sinks.t.batch_ttl = "3": has no effect: the group "g" uses the settings of its first sink: "s" has 10; write the same here',
      'warning line 19: a1.sinkgroups.g.priority = "1": is not a property of a sink group and has no effect; write it below a1.sinkgroups.g.processor',
      'warning line 20: a1.sinkgroups.g.Sinks = "s": is not a property of a sink group and has no effect; did you mean "sinks"?',
      'warning line 21: a1.sinkgroups.h: is not listed in a1.sinkgroups, so its settings have no effect; did you mean "g"?',
    ],
  },
] as const;
for (const { says, lines, faults } of cases)
  test(`${says} is reported`, () => {
    assert.deepEqual(faultTexts(read(file(...lines), { catalogue })), faults);
  });
