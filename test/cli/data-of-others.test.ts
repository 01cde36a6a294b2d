import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmod, chown, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { type TestContext, test } from "node:test";
import Database from "libsql";
import { writeKeptFiles } from "../formats/kept-files.js";
import { type CliResult, main } from "../support/run-cli.js";
import { tempFolder } from "../support/temp-folder.js";
import { unprivilegedAccount } from "../support/unprivileged-account.js";

const properties = `
a.sources = http-source
a.channels = away
a.sinks = k
a.sources.http-source.type = http
a.sources.http-source.bind = 127.0.0.1
a.sources.http-source.port = 0
a.sources.http-source.channels = away
a.sources.http-source.handler = ngsi
a.channels.away.type = file
a.sinks.k.type = rdb
a.sinks.k.rdb_dialect = sqlite
a.sinks.k.channel = away
`;

/** A data directory that an agent has used, of a user to whom the system refuses what is not their own. */
async function usedData(context: TestContext) {
  const folder = await tempFolder(context);
  const dataDir = path.join(folder, "data");
  await writeKeptFiles(dataDir);
  await writeFile(path.join(folder, "agent.properties"), properties);
  const database = new Database(path.join(dataDir, "svc.db"));
  database.exec("CREATE TABLE room (number)");
  database.close();
  const account = await unprivilegedAccount("nobody");
  if (account !== undefined) {
    const all = (await readdir(folder, { recursive: true })).map((name) => path.join(folder, name));
    for (const file of [folder, ...all]) await chown(file, account.uid, account.gid);
  }
  const call = async (command: readonly string[]): Promise<CliResult> =>
    await new Promise((resolve) => {
      const flags = ["--config", "agent.properties", "--data-dir", dataDir, "--management-port", "0"];
      const args = [main, ...command, ...flags];
      const child = execFile(process.execPath, args, { ...account, cwd: folder }, (_error, stdout, stderr) =>
        resolve({ code: child.exitCode ?? -1, stdout, stderr }),
      );
    });
  return { dataDir, account, call };
}

const written = ["in-hand", "dead-letters/refused.ndjson", "channels/away/checkpoint/checkpoint"];

for (const name of written)
  test(`where ${name} may be read and not written, the check fails as the start does, and both say what to do`, async (context) => {
    const { dataDir, call } = await usedData(context);
    const file = path.join(dataDir, name);
    await chmod(file, 0o400);

    const check = await call(["check", "--connect"]);
    const run = await call(["run"]);

    const remedy = `; give this user the right to use "${file}"`;
    assert.equal(check.code, 6, check.stdout);
    assert.ok(check.stdout.includes(remedy), check.stdout);
    assert.equal(run.code, 1, run.stdout);
    assert.ok(run.stdout.replaceAll('\\"', '"').includes(remedy), run.stdout);
  });

test("a database file that may be read and not written fails the check", async (context) => {
  const { dataDir, call } = await usedData(context);
  await chmod(path.join(dataDir, "svc.db"), 0o400);

  const { code, stdout } = await call(["check", "--connect"]);

  assert.equal(code, 6, stdout);
  assert.match(
    stdout,
    /failed {2}sink "k": .*writing the database file "svc\.db": EACCES.*; give this user the right to use ".*svc\.db"/,
  );
});

test("where the data directory is one of another user, the start says whose it is and what to do", async (context) => {
  const { dataDir, account, call } = await usedData(context);
  if (account === undefined) return context.skip("only root can give a folder to another user");
  await mkdir(path.join(dataDir, "workers"));
  await chown(dataDir, 0, 0);
  await chmod(dataDir, 0o700);

  const { code, stderr } = await call(["run"]);

  const remedy = `run as that user, or give user ${account.uid} the right to use it and all that is in it`;
  assert.equal(code, 1);
  assert.ok(stderr.includes(`; "${dataDir}" belongs to user 0; ${remedy}`), stderr);
});

for (const { what, put } of [
  { what: "a file", put: async (place: string) => await writeFile(place, "") },
  { what: "a link that leads nowhere", put: async (place: string) => await symlink(`${place}-gone`, place) },
])
  test(`${what} in the place of the data directory is named by a start`, async (context) => {
    const { dataDir, call } = await usedData(context);
    await rm(dataDir, { recursive: true });
    await put(dataDir);

    const { code, stderr } = await call(["run"]);

    assert.equal(code, 1);
    const says = `creating the folder "${dataDir}", where there is a file or a link that leads nowhere (give another data`;
    assert.ok(stderr.includes(says), stderr);
  });

test("a damaged ledger, which no start refuses, is a warning of the check that names the file and what becomes of it", async (context) => {
  const { dataDir, call } = await usedData(context);
  const file = path.join(dataDir, "ledger.json");
  const content = await readFile(file);
  await writeFile(file, content.fill(0));

  const { code, stdout } = await call(["check", "--connect"]);

  assert.equal(code, 0, stdout);
  assert.ok(stdout.includes(`reading "${file}": it is not a ledger`), stdout);
  assert.ok(stdout.includes(`"${file}.unreadable" is what is there`), stdout);
});
