import assert from "node:assert/strict";
import { cp, readFile } from "node:fs/promises";
import path from "node:path";
import { after, test } from "node:test";
import { startAgent } from "../support/agent-process.js";
import { settledBooks } from "../support/channel-books.js";
import { builtExample, npm } from "../support/example-package.js";
import { runCli, runHere } from "../support/run-cli.js";
import { tempFolder } from "../support/temp-folder.js";
import { writeFiles } from "../support/written-files.js";

const built = await builtExample("folder-channel");
after(built.remove);

test("a durable channel of a stranger passes the conformance suites, in its own tests and by plugin test", async () => {
  const own = await npm(built.folder, "test");
  const kit = await runHere(["plugin", "test", built.folder]);

  assert.equal(own.code, 0, own.output);
  assert.match(own.output, /fail 0/);
  assert.equal(kit.code, 0, kit.stdout);
  assert.match(kit.stdout, /^channel folder-channel: \d{2,} passed, 0 failed$/m);
  for (const part of ["after a crash", "of two channels with the same values", "is redelivered|redelivered"])
    assert.match(kit.stdout, new RegExp(`^ok .*(${part})`, "m"));
});

const mistakes = [
  {
    says: "that forgets its files",
    file: "event-files.js",
    from: /readdir\(this\.#folder\)\)\.sort\(\)/,
    to: "readdir(this.#folder)).slice(0, 0)",
    fails: /^not ok after a crash there is what was committed/m,
  },
  {
    says: "that does not say what comes again",
    file: "folder-queue.js",
    from: /this\.#append\(name, events, true\)/,
    to: "this.#append(name, events, false)",
    fails: /^not ok what was committed before a crash does not come again.*without a word/m,
  },
  {
    says: "without a lock",
    file: "folder-queue.js",
    from: /await this\.#lockFolder\(this\.#folder\)/,
    to: '(await (await import("node:fs/promises")).mkdir(this.#folder, { recursive: true }), undefined)',
    fails: /^not ok of two channels .* the second does not start.*: the start of the second channel must fail/m,
  },
] as const;

for (const { says, file, from, to, fails } of mistakes)
  test(`the suites find a channel ${says}`, async (context) => {
    const folder = await tempFolder(context);
    await cp(path.join(built.folder, "dist"), folder, { recursive: true });
    const text = await readFile(path.join(folder, file), "utf8");
    assert.match(text, from);
    await writeFiles(folder, { "package.json": '{ "type": "module" }', [file]: text.replace(from, to) });

    const { code, stdout } = await runCli(["plugin", "test", folder, "--case-seconds", "5"]);

    assert.equal(code, 1);
    assert.match(stdout, fails);
  });

test("an agent that is killed stores what waits in a channel of a stranger after its next start", async (context) => {
  const folder = await tempFolder(context);
  const properties = (sink: readonly string[]) =>
    [
      "a.sources = http-source",
      "a.channels = c",
      "a.sinks = k",
      "a.sources.http-source.type = http",
      "a.sources.http-source.channels = c",
      "a.sources.http-source.port = 0",
      "a.sources.http-source.handler = ngsi",
      "a.channels.c.type = folder-channel",
      `a.channels.c.folder = ${path.join(folder, "events")}`,
      "a.sinks.k.channel = c",
      ...sink.map((line) => `a.sinks.k.${line}`),
    ].join("\n");
  const env = { DENEB_PLUGINS: built.folder };
  const away = properties(["type = http", "url = http://127.0.0.1:1/"]);
  const agent = await startAgent(context, { properties: away, folder, env });
  const data = [{ id: "urn:ngsi-ld:Room:1", type: "Room", temperature: { type: "Property", value: 21.5 } }];
  const answer = await fetch(agent.notifyUrl, {
    method: "POST",
    headers: { "Content-Type": "application/ld+json", "Fiware-Service": "openiot" },
    body: JSON.stringify({ id: "urn:ngsi-ld:Notification:1", type: "Notification", data }),
  });
  assert.equal(answer.status, 200);
  await agent.end("SIGKILL");

  const storing = properties(["type = rdb", "rdb_dialect = sqlite"]);
  const next = await startAgent(context, { properties: storing, folder, env });
  const books = await settledBooks(next);

  assert.deepEqual([books.received, books.stored, books.unaccounted], [1, 1, 0]);
});
