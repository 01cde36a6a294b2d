import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { startAgent } from "../support/agent-process.js";
import { httpAgent } from "../support/http-agent.js";
import { tempFolder } from "../support/temp-folder.js";

const main = fileURLToPath(new URL("../../core/main.js", import.meta.url));
const run = promisify(execFile);

const properties = (mappings: string) =>
  httpAgent({
    channel: "memory",
    sink: "rdb",
    lines: [
      "a.sources.http-source.interceptors = ts nmi",
      "a.sources.http-source.interceptors.ts.type = timestamp",
      "a.sources.http-source.interceptors.nmi.type = name-mappings",
      `a.sources.http-source.interceptors.nmi.name_mappings_conf_file = ${mappings}`,
      "a.sinks.k.rdb_dialect = sqlite",
      "a.sinks.k.enable_name_mappings = true",
    ],
  });

const entity = {
  originalEntityId: "urn:ngsi-ld:Room:(.*)",
  originalEntityType: "Room",
  newEntityId: "room_$1",
  attributeMappings: [{ originalAttributeName: "temperature", newAttributeName: "temp" }],
};
const service = {
  originalService: "old.*",
  newService: "new",
  servicePathMappings: [{ originalServicePath: "/", entityMappings: [entity] }],
};
const appender = {
  appender: { name: "extra", class: "org.apache.log4j.RollingFileAppender" },
  pattern: { layout: "org.apache.log4j.PatternLayout", ConversionPattern: "%p %c %X{srv} %m%n" },
};
const reads = [
  "/v1/namemappings",
  "/v1/admin/log/appenders?transient=false",
  "/v1/admin/log/loggers?transient=false",
  "/v1/admin/log/loggers?name=root",
] as const;

test("what the management interface changed in files is in force after a restart", async (context) => {
  const folder = await tempFolder(context);
  const setup = {
    properties: properties(path.join(folder, "mappings.json")),
    folder,
    env: { DENEB_LOGGING: path.join(folder, "logging.json") },
  };
  const first = await startAgent(context, setup);
  const changes = [
    ["POST", "/v1/namemappings", { serviceMapping: [service, { originalService: "gone" }] }],
    ["PUT", "/v1/namemappings", { serviceMapping: [{ originalService: "gone", newService: "x" }] }],
    ["DELETE", "/v1/namemappings", { serviceMapping: [{ originalService: "gone" }] }],
    ["POST", "/v1/admin/log/appenders?transient=false", appender],
    ["PUT", "/v1/admin/log/loggers?transient=false", { logger: { name: "http-source", level: "DEBUG" } }],
    [
      "POST",
      "/v1/admin/log/appenders?transient=false",
      {
        ...appender,
        appender: { name: "console", class: "console" },
        pattern: { layout: "json", ConversionPattern: "%m" },
      },
    ],
  ] as const;
  for (const [method, target, body] of changes) {
    const { status } = await fetch(`${first.managementUrl}${target}`, { method, body: JSON.stringify(body) });
    assert.equal(status, 200);
  }
  const before = await all(first.managementUrl);
  assert.equal(await first.end("SIGTERM"), 0);

  const second = await startAgent(context, setup);
  const after = await all(second.managementUrl);
  const { status } = await fetch(second.notifyUrl, {
    method: "POST",
    headers: { "Content-Type": "application/json", "Fiware-Service": "old_one" },
    body: JSON.stringify({
      data: [{ id: "urn:ngsi-ld:Room:7", type: "Room", temperature: { type: "Property", value: 21 } }],
    }),
  });
  assert.equal(await second.end("SIGTERM"), 0);

  assert.equal(status, 200);
  assert.deepEqual(after, before);
  assert.deepEqual(JSON.parse(before[0] ?? "").serviceMapping, [service]);
  const query = ["sql", "--json", "--data-dir", path.join(folder, "data"), "select entityid, temp from new.room_7"];
  const { stdout } = await run(process.execPath, [main, ...query]);
  assert.deepEqual(JSON.parse(stdout), [{ entityid: "urn:ngsi-ld:Room:7", temp: "21" }]);
  const written = await readFile(path.join(folder, "data", "logs", "extra.log"), "utf8");
  assert.match(written, /^DEBUG http-source old_one events put in the channels events=1$/m);
});

function all(url: string): Promise<readonly string[]> {
  return Promise.all(reads.map(async (target) => (await fetch(`${url}${target}`)).text()));
}
