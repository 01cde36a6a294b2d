import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { startAgent } from "../support/agent-process.js";
import { repositoryRoot } from "../support/repository.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";

const folder = path.join(repositoryRoot, "config", "examples");

interface Example {
  readonly file: string;
  /** Where the file holds more than one. */
  readonly agent?: string;
  /** What four notifications are for the sinks, one after the other: smartcity Room, smartfarm Device, other Room, other Car. */
  readonly stored: Readonly<Record<string, number>>;
}

const examples: readonly Example[] = [
  { file: "fan-out", stored: { "main-sink": 4, "copy-sink": 4 } },
  { file: "routing-by-service", stored: { "city-sink": 1, "farm-sink": 1, "other-sink": 2 } },
  { file: "failover", stored: { "main-sink": 4, "spare-sink": 0 } },
  { file: "load-balancing", stored: { "sink-1": 2, "sink-2": 1, "sink-3": 1 } },
  { file: "optional-channel", stored: { "rdb-sink": 4, "log-sink": 4 } },
  { file: "chained-interceptors", stored: { "room-sink": 2, "device-sink": 1 } },
  { file: "two-agents", agent: "city", stored: { "rdb-sink": 4 } },
  { file: "two-agents", agent: "farm", stored: { "log-sink": 4 } },
  { file: "round-robin", stored: { "first-sink": 2, "second-sink": 2, "log-sink": 4 } },
];

const notifications = [
  { service: "smartcity", type: "Room" },
  { service: "smartfarm", type: "Device" },
  { service: "other", type: "Room" },
  { service: "other", type: "Car" },
] as const;

for (const { file, agent: name, stored } of examples)
  test(`config/examples/${file}.properties runs${name === undefined ? "" : ` as ${name}`} and does what it says`, async (context) => {
    const own = await tempFolder(context);
    const text = await readFile(path.join(folder, `${file}.properties`), "utf8");
    const properties = text
      .replace(/\.port = \d+/g, ".port = 0")
      .replaceAll("rdb_folder = data", `rdb_folder = ${own}`);
    const flags = name === undefined ? [] : ["--name", name];
    const agent = await startAgent(context, { properties, folder: own, flags });
    const stats = async () => {
      const response = await fetch(`${agent.managementUrl}/v1/stats`);
      return JSON.parse(await response.text()).stats;
    };
    const waiting = async (): Promise<number> => {
      const { ledger } = await stats();
      return ledger.channels.reduce((sum: number, channel: { waiting: number }) => sum + channel.waiting, 0);
    };

    for (const [index, { service, type }] of notifications.entries()) {
      const entity = { id: `urn:ngsi-ld:${type}:${index}`, type, value: { type: "Property", value: index } };
      const body = JSON.stringify({ id: "urn:n:1", type: "Notification", data: [entity] });
      const headers = { "Content-Type": "application/json", "Fiware-Service": service };
      const response = await fetch(agent.notifyUrl, { method: "POST", headers, body });
      await response.arrayBuffer();
      assert.equal(response.status, 200);
      await until(waiting, (events) => events === 0);
    }
    const { sinks, ledger } = await stats();
    const code = await agent.end("SIGTERM");

    const persisted = sinks.map(({ name: sink, num_persisted_events }: Readonly<Record<string, unknown>>) => [
      sink,
      num_persisted_events,
    ]);
    assert.deepEqual(Object.fromEntries(persisted), stored);
    assert.equal(ledger.unaccounted, 0);
    assert.equal(code, 0);
  });

/** They talk to a server: server-examples.test.ts and scale-out-examples.test.ts run them. */
const withServer = ["http-out", "kafka-in", "mqtt-in", "scale-out-jetstream", "scale-out-kafka"];

test("every example is run here, but for those that talk to a server", () => {
  const files = readdirSync(folder).map((file) => path.basename(file, ".properties"));

  assert.deepEqual(
    files.filter((file) => !examples.some((example) => example.file === file)),
    withServer,
  );
});
