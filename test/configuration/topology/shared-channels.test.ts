import assert from "node:assert/strict";
import { test } from "node:test";
import { definePlugin } from "../../../core/sdk/index.js";
import { changed, faultTexts, more, read } from "../../support/configuration.js";
import { fakeCatalogue } from "../../support/plugins.js";

const sharedLog = definePlugin({
  kind: "channel",
  type: "memory",
  summary: "A log that agents share.",
  stability: "beta",
  takers: "one",
  feeders: "others",
  config: {},
  create: () => {
    throw new Error("is not created");
  },
});
const catalogue: typeof fakeCatalogue = {
  ...fakeCatalogue,
  find: (kind, name) => (kind === "channel" ? sharedLog : fakeCatalogue.find(kind, name)),
};
const second = ["a1.sinks.t.type = logger", "a1.sinks.t.channel = c"];

test("two sinks at a channel with one taker are an error that names the remedy", () => {
  const text = more(...second).replace("a1.sinks = s", "a1.sinks = s t");

  const configuration = read(text, { catalogue });

  assert.deepEqual(faultTexts(configuration), [
    'error line 11: a1.sinks.t.channel = "c": is read by sink "s" too, and a channel of type memory has one position: give each further sink a channel of its own over the same log with another group, or put both in a sink group',
  ]);
  assert.equal(configuration.topology, undefined);
});

test("a sink group takes from a channel with one taker", () => {
  const group = ["a1.sinkgroups = g", "a1.sinkgroups.g.sinks = s t", "a1.sinkgroups.g.processor.type = failover"];
  const text = more(...second, ...group).replace("a1.sinks = s", "a1.sinks = s t");

  assert.deepEqual(
    faultTexts(read(text, { catalogue })).filter((fault) => fault.includes("is read by sink")),
    [],
  );
});

test("a channel that others fill needs no source, and neither does its agent", () => {
  const idle = more("a1.channels.idle.type = memory", ...second, "a1.sinks.t.channel = idle")
    .replace("channels = c\n", "channels = c idle\n")
    .replace("a1.sinks = s", "a1.sinks = s t");
  const sourceless = changed("a1.sources = http-source\n", "")
    .split("\n")
    .filter((line) => !line.includes("http-source"))
    .join("\n");

  assert.deepEqual(
    faultTexts(read(idle, { catalogue })).filter((fault) => fault.includes("source")),
    [],
  );
  assert.deepEqual(faultTexts(read(sourceless, { catalogue })), []);
});
