import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, readFile, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import test, { type TestContext } from "node:test";
import { pathToFileURL } from "node:url";
import { repositoryRoot } from "../support/repository.js";
import { tempFolder } from "../support/temp-folder.js";
import { tool, without } from "./tool.js";

const container = path.join(repositoryRoot, "deploy", "container");
const sqlite = { AGENT_RDB_DIALECT: "sqlite" };
const postgresql = { AGENT_RDB_DIALECT: "postgresql" };

const cases = [
  { env: {}, variables: sqlite, notice: /AGENT_RDB_HOST is not set: rows go to SQLite files/ },
  { env: sqlite, variables: {} },
  { env: { AGENT_RDB_HOST: "db" }, variables: postgresql },
  { env: { AGENT_RDB_HOST: "db", AGENT_RDB_DIALECT: "mysql" }, variables: {} },
  {
    env: { CYGNUS_POSTGRESQL_HOST: "old", CYGNUS_POSTGRESQL_PASS_FILE: "/run/pass", CYGNUS_POSTGRESQL_PORT: "" },
    variables: { ...postgresql, AGENT_RDB_HOST: "old", AGENT_RDB_PASS_FILE: "/run/pass" },
  },
  {
    env: { CYGNUS_POSTGIS_HOST: "old", AGENT_RDB_USER: "mine", CYGNUS_POSTGIS_USER: "theirs" },
    variables: { ...postgresql, AGENT_RDB_ATTR_GEOMETRY: "true", AGENT_RDB_HOST: "old" },
  },
  {
    env: { CYGNUS_POSTGRESQL_HOST: "old", AGENT_RDB_PASS_FILE: "/run/mine", CYGNUS_POSTGRESQL_PASS: "theirs" },
    variables: { ...postgresql, AGENT_RDB_HOST: "old" },
  },
  { env: { CYGNUS_MYSQL_HOST: "old" }, variables: { AGENT_RDB_DIALECT: "mysql", AGENT_RDB_HOST: "old" } },
  {
    env: { ...sqlite, CYGNUS_LOG_LEVEL: "FATAL" },
    variables: { DENEB_LOG_LEVEL: "error" },
    notice: /CYGNUS_LOG_LEVEL is read as DENEB_LOG_LEVEL=error/,
  },
  { env: { ...sqlite, AGENT_LOG_LEVEL: "DEBUG" }, variables: { DENEB_LOG_LEVEL: "debug" }, notice: /AGENT_LOG_LEVEL/ },
  { env: { ...sqlite, CYGNUS_API_PORT: "8081" }, variables: { DENEB_MANAGEMENT_PORT: "8081" }, notice: /8081/ },
  { env: { ...sqlite, CYGNUS_API_PORT: "8081", DENEB_MANAGEMENT_PORT: "1" }, variables: {} },
  {
    env: { ...sqlite, CYGNUS_JAVA_OPTS: "-Xmx4g" },
    variables: {},
    notice: /CYGNUS_JAVA_OPTS has no effect: .*NODE_OPTIONS/,
  },
  {
    env: { CYGNUS_MYSQL_HOST: "one", CYGNUS_POSTGRESQL_HOST: "two" },
    variables: { ...postgresql, AGENT_RDB_HOST: "two" },
    notice: /CYGNUS_MYSQL_HOST has no effect beside CYGNUS_POSTGRESQL_HOST: for a sink of each mount a file/,
  },
  {
    env: { ...sqlite, CYGNUS_MONGO_HOSTS: "m:27017" },
    variables: {},
    notice: /CYGNUS_MONGO_HOSTS has no effect: .*no such sink/,
  },
  {
    env: { CYGNUS_POSTGRESQL_HOST: "old", CYGNUS_POSTGRESQL_SERVICE_PORT: "5055" },
    variables: { ...postgresql, AGENT_RDB_HOST: "old" },
    notice: /^CYGNUS_POSTGRESQL_SERVICE_PORT has no effect: set AGENT_SERVICE_PORT, [^,]*$/,
  },
] as const;

for (const one of cases)
  test(`the image reads ${JSON.stringify(one.env)} as ${JSON.stringify(one.variables)}`, async () => {
    const module = pathToFileURL(path.join(container, "environment.mjs")).href;
    const script = `import { takenOver } from "${module}"; console.log(JSON.stringify(takenOver(process.env, true)));`;

    const said = await tool(process.execPath, ["--input-type=module", "--eval", script], { env: one.env, clean: true });

    const { variables, notices } = JSON.parse(said);
    assert.deepEqual(variables, one.variables);
    if ("notice" in one) assert.match(notices.join(), one.notice);
    else assert.deepEqual(notices, []);
  });

const noNamespaces = await without(["unshare"], true);

test("a signal that arrives while the first process of a container loads ends it", {
  skip: noNamespaces,
}, async (t) => {
  const folder = await copyOfImage(t);
  const words = [
    process.execPath,
    path.join(folder, "start.mjs"),
    "run",
    "--config",
    path.join(folder, "agent.properties"),
  ];
  const env = { PATH: process.env["PATH"], AGENT_SERVICE_HOST: "127.0.0.1", AGENT_SERVICE_PORT: "0" };
  const own = { ...env, DENEB_MANAGEMENT_PORT: "0", DENEB_DATA_DIR: path.join(folder, "data") };
  const child = spawn("unshare", ["--pid", "--fork", ...words], { env: own, stdio: ["ignore", "ignore", "pipe"] });
  const exited = once(child, "exit", { signal: AbortSignal.timeout(120_000) });
  const [notice] = await once(child.stderr, "data");
  const first = Number(await readFile(`/proc/${child.pid}/task/${child.pid}/children`, "utf8"));
  t.after(() => child.exitCode === null && process.kill(first, "SIGKILL"));

  process.kill(first, "SIGTERM");

  assert.match(String(notice), /^notice: AGENT_RDB_HOST is not set/);
  const [code] = await exited;
  // 0 when the agent was quick and stopped in order.
  assert.ok(code === 143 || code === 0, String(code));
});

test("the image warns of no variable that it reads as another one", async (t) => {
  const folder = await copyOfImage(t);
  const words = [path.join(folder, "start.mjs"), "check", "--config", path.join(folder, "agent.properties")];
  const env = { PATH: process.env["PATH"], AGENT_API_PORT: "5081", AGENT_LOG_LEVEL: "WARNING" };

  const said = await tool("sh", ["-c", 'exec "$@" 2>&1', "sh", process.execPath, ...words], { env, clean: true });

  assert.match(said, /notice: AGENT_API_PORT is read as DENEB_MANAGEMENT_PORT=5081/);
  assert.doesNotMatch(said, /warning/);
});

test("the file of the image stores geometries in PostGIS for the variables of the predecessor's PostGIS sink", async (t) => {
  const folder = await copyOfImage(t);
  const notification = path.join(folder, "notification.json");
  const location = { type: "GeoProperty", value: { type: "Point", coordinates: [1, 2] } };
  const entity = { id: "urn:ngsi-ld:Room:1", type: "Room", location };
  const subscription = { subscriptionId: "urn:ngsi-ld:Subscription:1", notifiedAt: "2026-01-01T12:00:00Z" };
  await writeFile(
    notification,
    JSON.stringify({ id: "urn:ngsi-ld:Notification:1", type: "Notification", ...subscription, data: [entity] }),
  );
  const options = ["explain", "--config", path.join(folder, "agent.properties"), notification];

  const explained = await tool(process.execPath, [path.join(folder, "start.mjs"), ...options], {
    env: { CYGNUS_POSTGIS_HOST: "old" },
  });

  assert.match(explained, /"location" geometry\(Geometry, 4326\)/);
});

/** The programs and files of the image in one folder, with the agent of this checkout. */
async function copyOfImage(t: TestContext): Promise<string> {
  const folder = await tempFolder(t);
  await cp(container, folder, { recursive: true });
  await symlink(path.join(repositoryRoot, "dist"), path.join(folder, "dist"));
  return folder;
}
