import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { appendFile, lstat, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import test, { after, before } from "node:test";
import { freePort } from "../support/free-port.js";
import { until } from "../support/until.js";
import { buildNodeDeb, builtDeb, type DebianMachine, debianMachine, laterDeb, startUnit } from "./debian-machine.js";
import { notify } from "./notify.js";
import { without } from "./tool.js";

const skip = await without(["debootstrap", "dpkg-deb", "chroot"], true);
let made: DebianMachine | undefined;

before(async () => {
  if (skip === false) made = await debianMachine();
});
after(() => made?.remove());

// The tests are the life of one installation, in this order.
test("the package refuses a Node.js that is too old, and names the one it needs", { skip }, async () => {
  const { install, root, folder } = machine();
  await install(await buildNodeDeb(folder, "18.20.4-1", "/bin/true"));

  await assert.rejects(install(await builtDeb(folder)), /nodejs \(>= 20\.19\)/);

  assert.ok(!existsSync(path.join(root, "var/lib/deneb")));
});

test("an installation has a user, a private data directory, settings and a unit that is not started", {
  skip,
}, async () => {
  const { install, run, root, folder, systemdCalls } = machine();
  await systemdCalls();

  await install(await buildNodeDeb(folder, "20.19.0-1"));
  await run("dpkg", "--configure", "deneb");

  assert.match(await run("deneb", "--version"), /\d+\.\d+\.\d+/);
  const [, , uid = "", , , home, shell] = (await run("getent", "passwd", "deneb")).trim().split(":");
  assert.ok(Number(uid) > 0 && Number(uid) < 1000);
  assert.equal(home, "/var/lib/deneb");
  assert.equal(shell, "/usr/sbin/nologin");
  const data = await lstat(path.join(root, "var/lib/deneb"));
  assert.equal(`${data.uid} ${(data.mode & 0o777).toString(8)}`, `${uid} 700`);
  assert.equal((await lstat(path.join(root, "etc/default/deneb"))).mode & 0o007, 0);
  assert.match(await run("deneb", "check", "--config", "/etc/deneb/agent.properties"), /agent "deneb" is valid/);
  assert.deepEqual(await systemdCalls(), ["daemon-reload"]);
});

test("the unit starts an agent that stores a notification and stops in order", { skip }, async (t) => {
  const { root } = machine();
  const port = await freePort("127.0.0.1");
  const settings = path.join(root, "etc/deneb/agent.properties");
  const text = await readFile(settings, "utf8");
  await writeFile(settings, text.replace("port = 5050", `port = ${port}\ndeneb.sources.http-source.bind = 127.0.0.1`));
  await appendFile(path.join(root, "etc/default/deneb"), `DENEB_MANAGEMENT_PORT=${await freePort("127.0.0.1")}\n`);

  const agent = await startUnit(t, machine());
  assert.equal(await notify(`http://127.0.0.1:${port}/notify`), 200);
  await until(rows, (found) => found.includes("21.5"));

  assert.match(await readFile(`/proc/${agent.pid}/status`, "utf8"), /^CapEff:\t0+$/m);
  assert.equal(await agent.stop(), 0);
});

test("an upgrade keeps changed settings and data, and restarts the service if it runs", { skip }, async (t) => {
  const { install, root, folder, systemdCalls } = machine();
  const settings = await readFile(path.join(root, "etc/deneb/agent.properties"), "utf8");
  await systemdCalls();

  await install(await laterDeb(folder, await builtDeb(folder), "1.0.1"));

  assert.deepEqual(await systemdCalls(), ["daemon-reload", "try-restart deneb.service"]);
  assert.equal(await readFile(path.join(root, "etc/deneb/agent.properties"), "utf8"), settings);
  const agent = await startUnit(t, machine());
  assert.match(await rows(), /21\.5/);
  assert.equal(await agent.stop(), 0);
});

test("a removal stops the service and keeps settings and data; a purge removes them with the user", {
  skip,
}, async () => {
  const { run, root, systemdCalls } = machine();
  await systemdCalls();

  await run("dpkg", "--remove", "deneb");
  assert.deepEqual(await systemdCalls(), ["disable --now deneb.service", "daemon-reload"]);
  for (const kept of ["etc/deneb/agent.properties", "etc/default/deneb", "var/lib/deneb/openiot.db"])
    assert.ok(existsSync(path.join(root, kept)), kept);
  assert.ok(!existsSync(path.join(root, "usr/lib/deneb")));

  await run("dpkg", "--purge", "deneb");
  for (const gone of ["etc/deneb", "etc/default/deneb", "var/lib/deneb", "usr/lib/systemd/system/deneb.service"])
    assert.ok(!existsSync(path.join(root, gone)), gone);
  await assert.rejects(run("getent", "passwd", "deneb"));
});

async function rows(): Promise<string> {
  const query = "select temperature from openiot.urn_ngsi_ld_room_1";
  const options = ["--config", "/etc/deneb/agent.properties", "--data-dir", "/var/lib/deneb"];
  return await machine()
    .run("deneb", "sql", ...options, query)
    .catch((error: unknown) => String(error));
}

function machine(): DebianMachine {
  assert.ok(made !== undefined, "there is a machine");
  return made;
}
