import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { chown, lstat, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import test, { after, before } from "node:test";
import { freePort } from "../support/free-port.js";
import { postgresqlDatabase } from "../support/postgresql.js";
import { repositoryRoot } from "../support/repository.js";
import { until } from "../support/until.js";
import { type BuiltImage, buildImage } from "./image.js";
import { notify } from "./notify.js";
import { newVolume, type Started, started, writtenFiles } from "./started-container.js";
import { without } from "./tool.js";

const REVISION = "0123456789abcdef0123456789abcdef01234567";
const skip = await without(["buildah", "debootstrap", "dpkg-deb", "unshare", "nsenter", "setpriv"], true);
let built: BuiltImage | undefined;
let first: Started | undefined;
/** The volume of the first container. */
let volume = "";
const ends: (() => unknown)[] = [];

before(async () => {
  if (skip !== false) return;
  built = await buildImage(REVISION);
  volume = await newVolume(built);
  const folder = path.join(volume, "plugins", "marker");
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, "package.json"), '{ "type": "module" }');
  await writeFile(path.join(folder, "index.js"), plugin);
  await chown(path.join(volume, "plugins"), 10001, 10001);
  first = await started({ after: (end) => ends.push(end) }, built, { volume });
});
after(async () => {
  for (const end of ends) await end();
  await built?.remove();
});

test("the image says what it is, runs as a user that is not root, and has a volume and a health check", {
  skip,
}, (t) => {
  const { config } = image();

  assert.match(config.User, /^[1-9]\d*:[1-9]\d*$/);
  assert.equal(config.StopSignal, "SIGTERM");
  assert.deepEqual(Object.keys(config.Volumes), ["/var/lib/deneb"]);
  assert.deepEqual(Object.keys(config.ExposedPorts).sort(), ["5050/tcp", "5080/tcp"]);
  assert.equal(config.Labels["org.opencontainers.image.revision"], REVISION);
  assert.equal(config.Labels["org.opencontainers.image.licenses"], "Apache-2.0");
  assert.equal(config.Healthcheck.Test[0], "CMD");
  t.diagnostic(`${config.Labels["org.opencontainers.image.version"]} for ${process.arch}`);
});

test("the image has the agent and its production packages, no compiler, no tests, no shell", { skip }, async (t) => {
  const { root } = image();
  const lock: Lock = JSON.parse(await readFile(path.join(repositoryRoot, "package-lock.json"), "utf8"));
  const packages = Object.entries(lock.packages).filter(([place]) => place !== "");
  const isThere = (place: string) => existsSync(path.join(root, "opt/deneb", place));

  const missing = packages.filter(([place, { dev, optional }]) => !dev && !optional && !isThere(place));
  const surplus = packages.filter(([place, { dev }]) => dev && isThere(place));
  assert.deepEqual([missing, surplus], [[], []]);
  assert.ok(!existsSync(path.join(root, "opt/deneb/dist/test")));
  assert.ok(isThere("dist/bundle/compiled/agent.js"), "what V8 compiled, of the Node of the image");
  for (const shell of ["bin/sh", "usr/bin/sh", "usr/local/bin/npm"]) assert.ok(!existsSync(path.join(root, shell)));
  assert.match(await readFile(path.join(root, "opt/deneb/dist/revision.json"), "utf8"), new RegExp(REVISION));
  t.diagnostic(`${Math.round((await bytesOf(root)) / 1e6)} MB of files`);
});

test("no file of the image but its volume and /tmp can be changed by its user", { skip }, async () => {
  const { root } = image();

  for (const folder of ["opt/deneb", "etc/deneb", "usr/local/bin"]) {
    const { uid, mode } = await lstat(path.join(root, folder));
    assert.equal(uid, 0);
    assert.equal(mode & 0o022, 0);
  }
  const volume = await lstat(path.join(root, "var/lib/deneb"));
  assert.equal(volume.uid, 10001);
  assert.equal(volume.mode & 0o022, 0);
});

// The next tests are the life of one container, in this order.
test("a started container stores a notification and is healthy", { skip }, async () => {
  const { container, notifyUrl, managementUrl } = running();

  assert.equal(await notify(notifyUrl), 200);
  const select = ["sql", "select entityid, temperature from openiot.urn_ngsi_ld_room_1"];
  const rows = await until(
    () => container.exec(...deneb, ...select).catch((error: unknown) => String(error)),
    (text) => text.includes("21.5"),
  );
  assert.match(rows, /urn:ngsi-ld:Room:1/);
  const health = await container.exec(...image().config.Healthcheck.Test.slice(1));
  assert.match(health, /^200 /);
  for (const file of ["", "page.css", "main.js"]) {
    const answer = await fetch(`${managementUrl}/ui/${file}`);
    assert.equal(answer.status, 200, file);
  }
  const status = await readFile(`/proc/${container.pid}/status`, "utf8");
  assert.match(status, /^NSpid:.*\t1$/m);
  assert.match(status, /^Uid:\t10001\t10001\t10001\t10001$/m);
  assert.match(status, /^CapEff:\t0+$/m);
  assert.equal(await readFile(`/proc/${container.pid}/task/${container.pid}/children`, "utf8"), "");
});

test("the root of a container is read only, its volume is not", { skip }, async () => {
  const files = ["/opt/deneb/mark", "/etc/deneb/mark", "/mark", "/var/lib/deneb/mark"];
  const write = `const { writeFileSync } = require("node:fs");
    for (const file of ${JSON.stringify(files)})
      try { writeFileSync(file, ""); console.log(file); } catch (error) { console.log(error.code); }`;

  const printed = await running().container.exec(image().config.Entrypoint[0] ?? "", "-e", write);

  assert.deepEqual(printed.trim().split("\n"), ["EROFS", "EROFS", "EROFS", "/var/lib/deneb/mark"]);
});

test("a plugin of others finds the sdk of the image", { skip }, async () => {
  const listed = await running().container.exec(...deneb, "plugins", "--plugins", "/var/lib/deneb/plugins");

  assert.match(listed, /marker/);
});

test("a second container on the volume ends and names the folder that the first one holds", { skip }, async (t) => {
  await assert.rejects(started(t, image(), { volume, env: { DENEB_LOCK_WAIT: "0" } }), /"?\/var\/lib\/deneb/);
});

test("a container stops in order on SIGTERM to process 1", { skip }, async () => {
  const { container, notifyUrl } = running();

  assert.equal(await container.end("SIGTERM"), 0);

  assert.ok(
    container.lines.some((line) => line.includes('"msg":"stopping"')),
    container.lines.join("\n"),
  );
  await assert.rejects(fetch(notifyUrl, { method: "POST" }));
});

test("what a killed container had accepted is stored by the next one on the volume", { skip }, async (t) => {
  const volume = await newVolume(image());
  const away = { AGENT_RDB_HOST: "127.0.0.1", AGENT_RDB_PORT: String(await freePort("127.0.0.1")) };
  const first = await started(t, image(), { volume, env: away });
  assert.equal(await notify(first.notifyUrl), 200);
  await first.container.end("SIGKILL");

  const { container } = await started(t, image(), { volume });

  const select = ["sql", "select temperature from openiot.urn_ngsi_ld_room_1"];
  await until(
    () => container.exec(...deneb, ...select).catch((error: unknown) => String(error)),
    (text) => text.includes("21.5"),
  );
  assert.equal(await container.end("SIGTERM"), 0);
});

const plugin = `import { definePlugin } from "deneb/sdk";
export default definePlugin({
  kind: "interceptor",
  type: "marker",
  summary: "Marks nothing.",
  stability: "beta",
  config: {},
  create: () => ({ intercept: (event) => event }),
});
`;

test("a mounted properties file, logging file and a password from a file are used", { skip }, async (t) => {
  const database = await postgresqlDatabase();
  if (database === undefined) return t.skip("no PostgreSQL answers");
  t.after(() => database.drop());
  const volume = await newVolume(image());
  const files = {
    "/etc/deneb/agent.properties": ownProperties,
    "/etc/deneb/logging.json":
      '{ "appenders": { "console": { "class": "console", "layout": "json" } }, "loggers": { "root": "DEBUG" } }',
    "/run/secrets/rdb-pass": `${database.password}\n`,
  };
  const mounted = await writtenFiles(image(), files);
  const env = {
    AGENT_RDB_HOST: database.host,
    AGENT_RDB_PORT: String(database.port),
    AGENT_RDB_DATABASE: database.database,
    AGENT_RDB_USER: database.user,
    AGENT_RDB_PASS_FILE: "/run/secrets/rdb-pass",
  };
  const { container, notifyUrl } = await started(t, image(), { volume, env, files: mounted });

  assert.equal(await notify(notifyUrl), 200);

  await until(
    () => database.query("SELECT temperature FROM openiot.urn_ngsi_ld_room_1").catch(() => []),
    (rows) => rows[0]?.["temperature"] === "21.5",
  );
  assert.ok(container.lines.some((line) => line.includes('"level":"debug"')));
  assert.equal(await container.end("SIGTERM"), 0);
});

const deneb = ["/usr/local/bin/node", "/usr/local/bin/deneb"] as const;

const ownProperties = `mine.sources = in
mine.channels = queue
mine.sinks = out
mine.sources.in.type = http
mine.sources.in.channels = queue
mine.sources.in.bind = 127.0.0.1
mine.sources.in.port = \${env:AGENT_SERVICE_PORT}
mine.sources.in.handler = ngsi
mine.channels.queue.type = file
mine.sinks.out.type = rdb
mine.sinks.out.channel = queue
`;

interface Lock {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly optional?: boolean }>>;
}

async function bytesOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
  const sizes = await Promise.all(files.map(async (file) => (await lstat(file)).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

function running(): Started {
  assert.ok(first !== undefined, "a container was started");
  return first;
}

function image(): BuiltImage {
  assert.ok(built !== undefined, "the image was built");
  return built;
}
