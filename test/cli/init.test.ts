import assert from "node:assert/strict";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { starterDatabases, starterFile } from "../../core/cli/init/starter-file.js";
import { startAgent } from "../support/agent-process.js";
import { command } from "../support/command.js";
import { runCli } from "../support/run-cli.js";
import { tempFolder } from "../support/temp-folder.js";

for (const database of starterDatabases) {
  test(`the starter file for ${database} passes the check without a remark`, async (context) => {
    const file = path.join(await tempFolder(context), "agent.properties");

    const written = await command(["init", file, "--database", database]);
    const checked = await command(["check", "--config", file]);

    assert.equal(written.exitCode, 0);
    assert.match(written.out, /next: deneb check --config \S+ && deneb run --config \S+$/);
    assert.deepEqual([checked.exitCode, checked.err], [0, ""]);
    assert.match(checked.out, /agent "deneb" is valid: 1 source\(s\), 1 channel\(s\), 1 sink\(s\)$/);
  });

  test(`every commented property of the starter file for ${database} is accepted when its # is removed`, async (context) => {
    const text = starterFile("deneb", database);
    const commented = [...text.matchAll(/^# (deneb\.\S+) = .*$/gm)];
    const file = path.join(await tempFolder(context), "agent.properties");

    assert.ok(commented.length > 4);
    for (const [line, key = ""] of commented) {
      // A key that the file gives another value for moves to the new line.
      const others = text.replace(new RegExp(`^${key.replaceAll(".", "\\.")} = .*$`, "m"), "");
      await writeFile(file, others.replace(line, line.slice(2)));
      const { exitCode, err } = await command(["check", "--config", file], { AGENT_HTTP_TOKEN: "t" });
      assert.deepEqual([exitCode, err], [0, ""], line);
    }
  });
}

test("an agent runs with the starter file and stores a notification", async (context) => {
  const folder = await tempFolder(context);
  const properties = starterFile("deneb", "embedded")
    .replace("port = 5050", "port = 0")
    .replace("# deneb.sources.http-source.bind", "deneb.sources.http-source.bind");
  const agent = await startAgent(context, { properties, folder });

  const room = { id: "urn:Room:1", type: "Room", temperature: { type: "Property", value: 21 } };
  const notification = { id: "urn:n:1", type: "Notification", data: [room] };
  const { status } = await fetch(agent.notifyUrl, {
    method: "POST",
    headers: { "Content-Type": "application/ld+json" },
    body: JSON.stringify(notification),
  });

  assert.equal(status, 200);
  assert.equal(await agent.end("SIGTERM"), 0);
  assert.ok((await readdir(path.join(folder, "data"))).includes("openiot.db"));
});

test("the name of the agent is that of --name, and folders of the file are created", async (context) => {
  const file = path.join(await tempFolder(context), "etc", "deneb", "it's one.properties");

  const { exitCode, out } = await command(["init", file, "--name", "city_1"]);
  const checked = await command(["check", "--config", file]);

  assert.equal(exitCode, 0);
  assert.ok(out.endsWith(`deneb run --config '${file.replace("'", "'\\''")}'`));
  assert.match(checked.out, /agent "city_1" is valid/);
});

for (const name of ["", "a.b", "a b", "a=b", "\u001b[31m", "ä"])
  test(`the name ${JSON.stringify(name)} of an agent is refused, and no file is written`, async (context) => {
    const folder = await tempFolder(context);

    const { exitCode, err } = await command(["init", path.join(folder, "a.properties"), "--name", name]);

    assert.equal(exitCode, 2);
    assert.match(err, /^error: --name = ".*": must be of letters, digits, "-" and "_"$/);
    assert.deepEqual(await readdir(folder), []);
  });

test("what exists is never overwritten: a file, a folder, a link, also one that leads nowhere", async (context) => {
  const folder = await tempFolder(context);
  const inFolder = (name: string) => path.join(folder, name);
  await writeFile(inFolder("file"), "mine");
  await mkdir(inFolder("folder"));
  await symlink(inFolder("file"), inFolder("link"));
  await symlink(inFolder("nothing"), inFolder("dangling"));

  for (const name of ["file", "folder", "link", "dangling"]) {
    const { exitCode, err } = await command(["init", inFolder(name)]);
    assert.equal(exitCode, 2);
    assert.ok(err.startsWith(`error: "${inFolder(name)}" exists and stays unchanged`), err);
  }

  assert.equal(await readFile(inFolder("file"), "utf8"), "mine");
  assert.deepEqual((await readdir(folder)).toSorted(), ["dangling", "file", "folder", "link"]);
});

test("of two that create one file at once, one does", async (context) => {
  const file = path.join(await tempFolder(context), "a.properties");

  const results = await Promise.all(["embedded", "mysql"].map((database) => command(["init", file, "-d", database])));

  assert.deepEqual(results.map(({ exitCode }) => exitCode).toSorted(), [0, 2]);
});

test("a folder that cannot be created and an unknown database are said", async (context) => {
  const folder = await tempFolder(context);
  await writeFile(path.join(folder, "file"), "");

  const below = await runCli(["init", path.join(folder, "file", "a.properties")]);
  const unknown = await command(["init", path.join(folder, "b"), "--database", "mongo"]);

  assert.equal(below.code, 1);
  assert.match(below.stderr, /^deneb: writing the properties file ".*a\.properties": /);
  assert.equal(unknown.exitCode, 2);
  assert.match(unknown.err, /Allowed choices are embedded, postgresql, mysql/);
});
