import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import path from "node:path";
import { test } from "node:test";
import { startAgent } from "../support/agent-process.js";
import { httpAgent } from "../support/http-agent.js";
import { runCli } from "../support/run-cli.js";
import { tempFolder } from "../support/temp-folder.js";
import { notification, post } from "./notification.js";

const setup = (port: number, lines: readonly string[]) => httpAgent({ channel: "memory", sink: "rdb", port, lines });

const faulty = [
  ["a.channels.c.capacty = 5", 'did you mean "capacity"'],
  ["a.sinks.k.batch_size = abc", "abc"],
  ["a.sinks.k.data_model = dm-by-entty", "dm-by-entty"],
] as const;

test("check reports every fault of a file at once and exits with 2", async (context) => {
  const file = path.join(await tempFolder(context), "a.properties");
  await writeFile(
    file,
    setup(
      0,
      faulty.map(([line]) => line),
    ),
  );

  const { code, stderr } = await runCli(["check", "--config", file]);

  assert.equal(code, 2);
  for (const [, text] of faulty) assert.ok(stderr.includes(text), `${text} in ${stderr}`);
});

test("run does not start with a faulty file", async (context) => {
  const file = path.join(await tempFolder(context), "a.properties");
  await writeFile(file, setup(0, ["a.sinks.k.batch_size = abc"]));

  const { code, stderr } = await runCli(["run", "--config", file]);

  assert.equal(code, 2);
  assert.match(stderr, /batch_size/);
});

test("a port in use ends the program with 1 and a line that names the port", async (context) => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
  context.after(() => taken.close());
  const address = taken.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const folder = await tempFolder(context);
  const file = path.join(folder, "a.properties");
  await writeFile(file, setup(port, ["a.sinks.k.rdb_dialect = sqlite"]));

  const { code, stdout } = await runCli(["run", "-f", file, "-p", "0", "--data-dir", path.join(folder, "data")]);

  assert.equal(code, 1);
  assert.ok(stdout.includes(String(port)), stdout);
});

test("a database that is away is one clear line; what a stop cannot store is a dead letter", async (context) => {
  const folder = await tempFolder(context);
  const away = ["a.sinks.k.rdb_host = 127.0.0.1", "a.sinks.k.rdb_port = 1", "a.sinks.k.rdb_password = s3cret"];
  const properties = setup(0, away);
  const agent = await startAgent(context, { properties, folder, env: { DENEB_GRACE_PERIOD: "1" } });

  const status = await post(agent.notifyUrl, notification("urn:ngsi-ld:Room:1", 1));
  const code = await agent.end("SIGTERM");

  assert.equal(status, 200);
  assert.equal(code, 0);
  const text = JSON.stringify(agent.lines);
  const kept = JSON.parse((await readFile(path.join(folder, "data", "dead-letters", "k.ndjson"), "utf8")).trim());
  assert.equal(kept.reason, "stopped");
  assert.ok(text.includes("127.0.0.1:1"), text);
  assert.ok(!text.includes("s3cret"));
});
