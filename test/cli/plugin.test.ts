import assert from "node:assert/strict";
import { cp, readFile } from "node:fs/promises";
import path from "node:path";
import { after, type TestContext, test } from "node:test";
import { startAgent } from "../support/agent-process.js";
import { builtExample, npm } from "../support/example-package.js";
import { runCli } from "../support/run-cli.js";
import { tempFolder } from "../support/temp-folder.js";
import { writeFiles } from "../support/written-files.js";

const built = await builtExample("event-lines");
after(built.remove);

test("the example's own npm test passes as written, and plugin test agrees", async () => {
  const own = await npm(built.folder, "test");
  const kit = await runCli(["plugin", "test", built.folder]);

  assert.equal(own.code, 0, own.output);
  assert.match(own.output, /fail 0/);
  assert.equal(kit.code, 0, kit.stdout);
  assert.match(kit.stdout, /^sink event-lines: \d\d passed, 0 failed$/m);
});

test("plugin test names the rules that a plugin breaks, and fails", async (context) => {
  const folder = await tempFolder(context);
  await cp(path.join(built.folder, "dist"), folder, { recursive: true });
  const sink = path.join(folder, "event-lines.js");
  const text = await readFile(sink, "utf8");
  await writeFiles(folder, {
    "package.json": '{ "type": "module" }',
    "event-lines.js": text.replace("JSON.stringify(event)", "JSON.stringify(event).toLowerCase()"),
  });

  const { code, stdout } = await runCli(["plugin", "test", folder]);

  assert.equal(code, 1);
  assert.match(stdout, /^not ok a format directive in a value comes back unchanged: /m);
});

test("plugin test of a folder without a plugin fails with the remedy", async (context) => {
  const { code, stderr } = await runCli(["plugin", "test", await tempFolder(context)]);

  assert.equal(code, 1);
  assert.match(stderr, /holds no plugin: build it first/);
});

const ways = [
  { says: "by folder", place: "plugins/event-lines", variable: "DENEB_PLUGINS", value: "plugins" },
  { says: "as an npm package", place: "node_modules/event-lines", variable: "DENEB_PLUGIN_PACKAGES", value: "" },
] as const;
for (const { says, place, variable, value } of ways)
  test(`an agent loads the example ${says}, without an installed deneb, and stores a notification`, async (context) => {
    const folder = await tempFolder(context);
    for (const part of ["dist", "package.json"]) {
      await cp(path.join(built.folder, part), path.join(folder, place, part), { recursive: true });
    }
    const lines = path.join(folder, "lines.jsonl");
    const env = { [variable]: value === "" ? "event-lines" : path.join(folder, value) };
    await notifyAgent(context, { folder, env, lines });

    const stored: unknown[] = (await readFile(lines, "utf8")).trim().split("\n").map(idOf);
    assert.deepEqual(stored, ["urn:ngsi-ld:Room:1"]);
  });

interface Notified {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly lines: string;
}

async function notifyAgent(context: TestContext, { folder, env, lines }: Notified): Promise<void> {
  const properties = [
    "a.sources = http-source",
    "a.channels = c",
    "a.sinks = k",
    "a.sources.http-source.type = http",
    "a.sources.http-source.channels = c",
    "a.sources.http-source.port = 0",
    "a.sources.http-source.handler = ngsi",
    "a.channels.c.type = memory",
    "a.sinks.k.type = event-lines",
    "a.sinks.k.channel = c",
    `a.sinks.k.file = ${lines}`,
  ].join("\n");
  const agent = await startAgent(context, { properties, folder, env });
  const data = [{ id: "urn:ngsi-ld:Room:1", type: "Room", temperature: { type: "Property", value: 21.5 } }];
  const answer = await fetch(agent.notifyUrl, {
    method: "POST",
    headers: { "Content-Type": "application/ld+json", "Fiware-Service": "openiot" },
    body: JSON.stringify({ id: "urn:ngsi-ld:Notification:1", type: "Notification", data }),
  });
  assert.equal(answer.status, 200);
  assert.equal(await agent.end("SIGTERM"), 0);
}

function idOf(line: string): unknown {
  return Reflect.get(Object(Reflect.get(Object(JSON.parse(line)), "body")), "id");
}
