import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { startAgent } from "../support/agent-process.js";
import { repositoryRoot } from "../support/repository.js";
import { runCli } from "../support/run-cli.js";
import { tempFolder } from "../support/temp-folder.js";
import { notification, post } from "./notification.js";

const query =
  "select entityid, entitytype, temperature, temperature_unitcode from openiot.urn_ngsi_ld_room_1 order by sequence";

async function quickstart(): Promise<string> {
  const text = await readFile(path.join(repositoryRoot, "config", "quickstart.properties"), "utf8");
  return text.replace("port = 5050", "port = 0");
}

async function rows(folder: string, text = query): Promise<unknown> {
  const { code, stdout, stderr } = await runCli(["sql", text, "--json", "--data-dir", path.join(folder, "data")]);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}

const row = (temperature: string) => ({
  entityid: "urn:ngsi-ld:Room:1",
  entitytype: "Room",
  temperature,
  temperature_unitcode: "CEL",
});

test("the quickstart setup stores a notification, and SIGTERM ends it in order", async (context) => {
  const folder = await tempFolder(context);
  const agent = await startAgent(context, { properties: await quickstart(), folder });

  const status = await post(agent.notifyUrl, notification("urn:ngsi-ld:Room:1", 21.5));
  const code = await agent.end("SIGTERM");

  assert.equal(status, 200);
  assert.equal(code, 0);
  assert.deepEqual(await rows(folder), [row("21.5")]);
});

test("the quickstart setup stores NGSI v2 beside NGSI-LD", async (context) => {
  const folder = await tempFolder(context);
  const agent = await startAgent(context, { properties: await quickstart(), folder });
  const entity = { id: "Room1", type: "Room", temperature: { type: "Number", value: 21.5, metadata: {} } };
  const body = JSON.stringify({ subscriptionId: "6b0298c15617dadf53075d7b", data: [entity] });
  const headers = { "Content-Type": "application/json; charset=utf-8", "Fiware-Service": "openiot" };

  const { status } = await fetch(agent.notifyUrl, { method: "POST", headers, body });
  const ldStatus = await post(agent.notifyUrl, notification("urn:ngsi-ld:Room:1", 1));
  await agent.end("SIGTERM");

  assert.deepEqual([status, ldStatus], [200, 200]);
  assert.deepEqual(await rows(folder), [row("1")]);
  const stored = await rows(folder, "select entityid, temperature from openiot.room1_room");
  assert.deepEqual(stored, [{ entityid: "Room1", temperature: "21.5" }]);
});

test("rows can be read while the agent runs, outlive kill -9, and more are added after a restart", async (context) => {
  const folder = await tempFolder(context);
  const properties = await quickstart();
  const first = await startAgent(context, { properties, folder });
  await post(first.notifyUrl, notification("urn:ngsi-ld:Room:1", 1));
  await stored(first.managementUrl, 1);

  const whileRunning = await rows(folder);
  await first.end("SIGKILL");
  const second = await startAgent(context, { properties, folder });
  await post(second.notifyUrl, notification("urn:ngsi-ld:Room:1", 2));
  await second.end("SIGTERM");

  assert.deepEqual(whileRunning, [row("1")]);
  assert.deepEqual(await rows(folder), [row("1"), row("2")]);
});

test("every notification answered 200 before SIGTERM is stored", async (context) => {
  const folder = await tempFolder(context);
  const agent = await startAgent(context, { properties: await quickstart(), folder });
  const posts = Array.from({ length: 200 }, (_, index) =>
    post(agent.notifyUrl, notification("urn:ngsi-ld:Room:1", index)),
  );
  const statuses = await Promise.all(posts);

  const code = await agent.end("SIGTERM");

  const accepted = statuses.filter((status) => status === 200).length;
  const kept = await rows(folder);
  assert.equal(code, 0);
  assert.ok(accepted > 0);
  assert.ok(Array.isArray(kept));
  assert.equal(kept.length, accepted);
});

/** Asks the statistics until so many events are stored; the test runner's time-out bounds it. */
async function stored(managementUrl: string, events: number): Promise<void> {
  let persisted = 0;
  while (persisted < events) {
    const response = await fetch(`${managementUrl}/v1/stats`);
    const text = await response.text();
    persisted = JSON.parse(text).stats.sinks[0].num_persisted_events;
  }
}
