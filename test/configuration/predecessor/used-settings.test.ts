import assert from "node:assert/strict";
import { test } from "node:test";
import { changed, faultTexts, read } from "../../support/configuration.js";
import { speltCatalogue as catalogue, old } from "../../support/spelt-plugin.js";

const file = changed("type = rdb", `type = ${old("SeaSink")}`);
const second = [`a1.sinks.t.type = ${old("LandSink")}`, "a1.channels.d.type = memory"];

const cases = [
  {
    what: "a name that is listed twice",
    edits: [["a1.sinks = s", "a1.sinks = s s"]],
    lines: [],
    faults: ['warning line 3: a1.sinks = "s": is listed twice; it counts once'],
  },
  {
    what: "names without settings, and links to them",
    edits: [
      ["a1.channels = c", "a1.channels = d c"],
      ["source.channels = c", "source.channels = c d"],
      ["a1.sinks = s", "a1.sinks = s t"],
    ],
    lines: [],
    faults: [
      'warning line 2: a1.channels = "d": is listed and has no settings; it is left out',
      'warning line 3: a1.sinks = "t": is listed and has no settings; it is left out',
      'warning line 5: a1.sources.http-source.channels = "d": names no channel that is used; it is left out',
    ],
  },
  {
    what: "a component without a type",
    edits: [["a1.sinks = s", "a1.sinks = s t"]],
    lines: ["a1.sinks.t.channel = c"],
    faults: ["warning line 10: a1.sinks.t: has no type; it is left out"],
  },
  {
    what: "a sink whose channel does not exist, and one without any",
    edits: [["a1.sinks = s", "a1.sinks = s t u"]],
    lines: [`a1.sinks.t.type = ${old("LandSink")}`, "a1.sinks.t.channel = d", `a1.sinks.u.type = ${old("LandSink")}`],
    faults: [
      'warning line 11: a1.sinks.t.channel = "d": names no channel, so sink "t" has none; it is left out',
      "warning line 12: a1.sinks.u: has no channel; it is left out",
    ],
  },
  {
    what: "a channel that no sink reads, which would fill up",
    edits: [
      ["a1.channels = c", "a1.channels = c d"],
      ["source.channels = c", "source.channels = c d d"],
    ],
    lines: ["a1.channels.d.type = memory"],
    faults: [
      'warning line 5: a1.sources.http-source.channels = "d": names no channel that is used; it is left out',
      "warning line 10: a1.channels.d: is read by no sink; it is left out",
    ],
  },
  {
    what: "a source whose channels do not exist",
    edits: [["a1.sources = http-source", "a1.sources = http-source other"]],
    lines: ["a1.sources.other.type = http", "a1.sources.other.channels = d"],
    faults: [
      'warning line 11: a1.sources.other.channels = "d": names no channel that is used; it is left out',
      "warning line 10: a1.sources.other: has no channel; it is left out",
    ],
  },
  {
    what: "a sink group of sinks that do not exist",
    edits: [],
    lines: ["a1.sinkgroups = g h", "a1.sinkgroups.g.sinks = t", "a1.sinkgroups.g.processor.type = failover"],
    faults: [
      'warning line 10: a1.sinkgroups = "h": is listed and has no settings; it is left out',
      'warning line 11: a1.sinkgroups.g.sinks = "t": names no sink that is used; it is left out',
      "warning line 11: a1.sinkgroups.g: has no sink; it is left out",
    ],
  },
  {
    what: "a key with too few parts, and a section that is none",
    edits: [],
    lines: ["something = 1", "a1.sinkss.x.type = rdb", "a1.sinkss.x.channel = c"],
    faults: [
      'warning line 10: something = "1": has too few parts; write <agent>.<sources, channels or sinks>.<name>.<property>; it has no effect',
      'warning line 11: a1.sinkss: has the unknown section "sinkss"; the sections are sources, channels, sinks, sinkgroups; it has no effect; did you mean "sinks"?',
    ],
  },
] as const;
for (const { what, edits, lines, faults } of cases) {
  const text = [edits.reduce((before, [from, to]) => before.replace(from, to), file), ...lines].join("\n");

  test(`in a file with old class names ${what} is a warning, and the rest starts`, () => {
    const configuration = read(text, { catalogue });

    const texts = faultTexts(configuration).filter((one) => !one.startsWith("notice"));
    assert.deepEqual(texts.toSorted(), [...faults].toSorted());
    const { sources = [], channels = [], sinks = [], groups = [] } = configuration.topology ?? {};
    assert.deepEqual(
      [sources, channels, sinks, groups].map((nodes) => nodes.map(({ name }) => name)),
      [["http-source"], ["c"], ["s"], []],
    );
  });

  test(`in another file ${what} is reported as before`, () => {
    const strict = text.replaceAll(/org\.example\.(?:Sea|Land)Sink/g, "store");

    assert.ok(faultTexts(read(strict, { catalogue })).every((one) => !/left out|counts once|no effect; did/.test(one)));
  });
}

test("a file of which nothing would remain has all its errors", () => {
  const text = file.replace("a1.sinks.s.channel = c", "a1.sinks.s.channel = d");

  const { topology, faults } = read(text, { catalogue });

  assert.equal(topology, undefined);
  assert.ok(faults.some(({ severity, reason }) => severity === "error" && reason.startsWith("names no channel")));
});

const selectors = [
  { lines: ["selector.type = replicating"], channels: ["c"] },
  { lines: ["selector.type = org.example.channel.ReplicatingChannelSelector"], channels: ["c"] },
  { lines: ["selector.type = replicating", "selector.optional = d"], channels: ["c", "d"] },
  { lines: ["selector.optional = d"], channels: ["c", "d"] },
  { lines: ["selector.type = multiplexing", "selector.mapping.city = d"], channels: ["c", "d"] },
] as const;
for (const { lines, channels } of selectors)
  test(`of the channels c and d, of which a sink reads c, ${channels.join(" and ")} remain with ${lines.join(", ")}`, () => {
    const selecting = lines.map((line) => `a1.sources.http-source.${line}`);
    const listed = file
      .replace("a1.channels = c", "a1.channels = c d")
      .replace("source.channels = c", "source.channels = c d");

    const { topology } = read([listed, ...selecting, ...second.slice(1)].join("\n"), { catalogue });

    assert.deepEqual(
      topology?.channels.map(({ name }) => name),
      channels,
    );
  });

test("names from a variable are judged, and those of an unset one are not", () => {
  const text = file.replace("a1.sinks = s", "a1.sinks = ${SINKS}");

  assert.equal(read(text, { catalogue, env: { SINKS: "s s t" } }).topology?.sinks.length, 1);
  assert.match(faultTexts(read(text, { catalogue })).join(), /"SINKS" is not set/);
});

test("of two agents in a file only the one with old class names is read so", () => {
  const text = [
    file.replace("a1.sinks = s", "a1.sinks = s s"),
    changed("a1.sinks = s", "a1.sinks = s s").replaceAll("a1.", "a2."),
  ];
  const both = text.join("\n").replace("a2.sinks.s.type = rdb", "a2.sinks.s.type = store");

  assert.notEqual(read(both, { catalogue, agent: "a1" }).topology, undefined);
  assert.equal(read(both, { catalogue, agent: "a2" }).topology, undefined);
});

test("lines of an example that stand for others are errors with their line", () => {
  const text = [file, "...", "a1.sinks.s.sea_host = <host>", "a1.sinks.s.sea_password = <secret>"].join("\n");

  assert.deepEqual(
    faultTexts(read(text, { catalogue })).filter((one) => one.startsWith("error")),
    [
      "error line 10: ...: stands for lines that an example leaves out; write them, or remove it",
      'error line 11: a1.sinks.s.sea_host = "<host>": is a placeholder of an example; write a value',
      'error line 12: a1.sinks.s.sea_password = "***": is a placeholder of an example; write a value',
    ],
  );
  assert.notEqual(
    read(text.replace("\n...", ""), { catalogue, env: { SEA_HOST: "h", SEA_PASS: "p" } }).topology,
    undefined,
  );
});

test("a file of a predecessor that is no UTF-8 is read as ISO 8859-1, another one is not", () => {
  const host = Buffer.from("a1.sinks.s.store_host = ca\xf1a", "latin1");
  const input = (text: string) => ({
    text: `${text}\n${host.toString("utf8")}`,
    latin1: `${text}\n${host.toString("latin1")}`,
  });
  const [before, now] = [input(file), input(changed("type = rdb", "type = store"))];

  assert.equal(
    read(before.text, { catalogue, latin1: before.latin1 }).topology?.sinks[0]?.config["store_host"],
    "caña",
  );
  assert.match(faultTexts(read(now.text, { catalogue, latin1: now.latin1 })).join(), /is not UTF-8/);
});
