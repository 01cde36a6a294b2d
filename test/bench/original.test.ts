import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { freePort } from "../support/free-port.js";
import { autocannonLoad } from "./autocannon.js";
import { agentCase, type BenchCase } from "./case.js";
import { measure } from "./measure.js";
import { needsPostgresql } from "./needs-postgresql.js";
import { post } from "./post.js";
import { requestsOf } from "./requests.js";

const standIn = `"${process.execPath}" "${fileURLToPath(new URL("./stand-in-server.js", import.meta.url))}"`;
const options = { generator: autocannonLoad, seconds: 1, connections: 4, looks: 0 };

const original = (command: string, port: number): BenchCase => ({
  ...agentCase({ database: "postgresql", channel: "memory", batchSize: 1, entities: 3 }),
  system: "original",
  original: { command, url: `http://127.0.0.1:${port}/notify` },
});

test("a program that is named by its command is measured by its rows, and ended", async (context) => {
  if (await needsPostgresql(context)) return;
  const port = await freePort("127.0.0.1");

  const run = await measure(original(`true; ${standIn} ${port}`, port), options);

  assert.equal((run.storedPerSecond ?? 0) > 0, true);
  assert.equal((run.rows?.found ?? 0) >= run.load.accepted + 4, true);
  assert.equal(run.rows?.doubled, 0);
  assert.equal((run.agentMicroseconds ?? 0) > 0, true);
  const [request] = requestsOf({ format: "ld", entities: 1 }, "bench");
  assert.ok(request !== undefined);
  await assert.rejects(post(`http://127.0.0.1:${port}/notify`, request), /ECONNREFUSED/);
});

test("a command that ends before it answers is an error with its exit code", async (context) => {
  if (await needsPostgresql(context)) return;
  const port = await freePort("127.0.0.1");

  await assert.rejects(measure(original("exit 3", port), options), /"exit 3" ended with 3 before http:.* answered 200/);
});

test("an address that answers before the command is started is an error", async (context) => {
  if (await needsPostgresql(context)) return;
  const port = await freePort("127.0.0.1");
  const nested = original(`${standIn} ${port}`, port);

  await assert.rejects(
    measure(nested, {
      ...options,
      generator: async (order) => (await measure(nested, options)) && (await autocannonLoad(order)),
    }),
    /notify answers before ".*" is started/,
  );
});
