import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { discover } from "../../core/registry/discover.js";
import type { PluginProblem } from "../../core/registry/load-plugin.js";
import { type GrowingCatalogue, namedPlugins, wholeCatalogue } from "../../core/registry/named-plugins.js";
import { tempFolder } from "../support/temp-folder.js";
import { writeFiles } from "../support/written-files.js";

const own = fileURLToPath(new URL("../../plugins", import.meta.url));
const limitMillis = 10_000;

async function named(text: string, folder = own, problems: PluginProblem[] = []): Promise<GrowingCatalogue> {
  const report = (found: readonly PluginProblem[]) => void problems.push(...found);
  const catalogue = await namedPlugins({ folder, text, report, limitMillis });
  assert.ok(catalogue !== undefined);
  return catalogue;
}

test("the build lists all plugins of the program, each with its names", async () => {
  const { catalogue: whole } = await discover([own]);
  const catalogue = await named("");

  for (const { definition } of whole.list()) {
    for (const name of [definition.type, ...(definition.aliases ?? [])]) {
      const asked = await named("");
      const found = asked.find(definition.kind, name.toUpperCase());
      assert.ok(found?.type === definition.type || asked.lacks, name);
    }
    assert.deepEqual(catalogue.aliases(definition.kind), whole.aliases(definition.kind));
  }
  assert.equal(catalogue.lacks, false);
  await catalogue.complete();
  assert.deepEqual(
    catalogue.list().map(({ definition }) => definition),
    whole.list().map(({ definition }) => definition),
  );
});

test("what a text names is loaded, by type, by class name and by its last part; the rest is lacking until it is loaded", async () => {
  const catalogue = await named(`
    a.sources.s.type = HTTPSource
    a.sinks.s.type=org.apache.flume.sink.LoggerSink
    a.channels.c.type : memory`);

  assert.deepEqual(
    (["http", "org.apache.flume.source.http.HTTPSource"] as const).map((name) => catalogue.find("source", name)?.type),
    ["http", "http"],
  );
  const logger = catalogue.find("sink", "logger");
  assert.equal(logger?.type, "logger");
  assert.equal(catalogue.find("channel", "memory")?.type, "memory");
  assert.equal(catalogue.find("selector", "replicating")?.type, "replicating");
  assert.equal(catalogue.find("channel", "no-such-type"), undefined);
  assert.equal(catalogue.lacks, false);

  assert.equal(catalogue.find("channel", "Kafka"), undefined);
  assert.equal(catalogue.lacks, true);

  await catalogue.complete();
  assert.equal(catalogue.lacks, false);
  assert.equal(catalogue.find("channel", "Kafka")?.type, "kafka");
  assert.equal(catalogue.find("sink", "logger"), logger);
  catalogue.list();
  assert.equal(catalogue.lacks, false);
});

test("whoever asks for all plugins lacks those that are not loaded", async () => {
  const catalogue = await named("memory");

  const listed = catalogue.list().map(({ definition }) => definition.type);

  assert.ok(listed.includes("memory") && !listed.includes("rdb"));
  assert.equal(catalogue.lacks, true);
});

test("a plugin that is loaded later and cannot be used is reported then", async (context) => {
  const folder = await tempFolder(context);
  await writeFiles(folder, {
    "broken/index.js": "throw new Error('no driver');",
    "names.json": JSON.stringify({ broken: [{ kind: "sink", names: ["broken"] }] }),
  });
  const problems: PluginProblem[] = [];
  const catalogue = await named("", folder, problems);
  assert.deepEqual(problems, []);

  await catalogue.complete();

  assert.deepEqual(
    problems.map(({ origin }) => origin),
    [path.join(folder, "broken", "index.js")],
  );
  assert.equal(catalogue.leftOut?.length, 1);
});

const wrongLists = [
  { says: "is missing", list: undefined },
  { says: "is no JSON", list: "{" },
  { says: "lacks a folder", list: "{}" },
  { says: "has a folder more", list: '{ "memory-channel": [], "other": [] }' },
  { says: "has something else than names", list: '{ "memory-channel": [{ "kind": "channel" }] }' },
];

for (const { says, list } of wrongLists) {
  test(`where the list of names ${says}, nothing is loaded by name`, async (context) => {
    const folder = await tempFolder(context);
    await mkdir(path.join(folder, "memory-channel"));
    if (list !== undefined) await writeFile(path.join(folder, "names.json"), list);

    assert.equal(await namedPlugins({ folder, text: "memory", report: () => {}, limitMillis }), undefined);
  });
}

test("a catalogue with all its plugins lacks nothing", async () => {
  const { catalogue } = await discover([own]);
  const whole = wholeCatalogue(catalogue);

  assert.equal(whole.find("channel", "no-such-type"), undefined);
  await whole.complete();

  assert.equal(whole.lacks, false);
  assert.equal(whole.list().length, catalogue.list().length);
});
