import assert from "node:assert/strict";
import { cp, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { notification, post } from "../end-to-end/notification.js";
import { startAgent } from "../support/agent-process.js";
import { loggingAgent } from "../support/logging-agent.js";
import { repositoryRoot } from "../support/repository.js";
import { runCli } from "../support/run-cli.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";
import { writeFiles } from "../support/written-files.js";

const dist = path.join(repositoryRoot, "dist");
const bundle = path.join(dist, "bundle");

/** What an agent reads of the program besides the bundle: a page for browsers, and threads, which have their own modules. */
const compiled = ["core/management/page/browser", "core/pipeline/stuck-watch.js", "plugins/rdb-sink/sqlite"];
const asIs = ["package.json", "config", "core", "node_modules"];

/** Installs the program without its compiled modules: each index of a plugin throws, the others are not there. */
async function bundleAlone(context: TestContext): Promise<string> {
  const root = path.join(await tempFolder(context), "a b#c%20");
  const plugins = (await readdir(path.join(dist, "plugins"), { withFileTypes: true })).filter((one) => !one.isFile());
  const throwing = 'throw new Error("a compiled module was loaded");\n';
  await writeFiles(root, {
    "dist/core/process.js": throwing,
    ...Object.fromEntries(plugins.map(({ name }) => [`dist/plugins/${name}/index.js`, throwing])),
  });
  for (const name of ["core/main.js", "core/entry", "plugins/names.json", "revision.json", "bundle"])
    await cp(path.join(dist, name), path.join(root, "dist", name), { recursive: true });
  for (const name of asIs) await symlink(path.join(repositoryRoot, name), path.join(root, name));
  for (const name of compiled) {
    await mkdir(path.dirname(path.join(root, "dist", name)), { recursive: true });
    await symlink(path.join(dist, name), path.join(root, "dist", name));
  }
  return path.join(root, "dist", "core", "main.js");
}

const storing = loggingAgent
  .replace("c.type = memory", "c.type = file")
  .replace("k.type = logger", "k.type = rdb\na.sinks.k.rdb_dialect = sqlite");

test("an agent of the bundle alone receives, keeps the text, stores, is managed, serves its page, reloads and ends in order", async (context) => {
  const folder = await tempFolder(context);
  const agent = await startAgent(context, { properties: storing, folder, main: await bundleAlone(context) });
  const text = notification("urn:ngsi-ld:Room:1", 21.5).replace('"type"', ' \n "type"');
  const ask = async (target: string) => await (await fetch(`${agent.managementUrl}${target}`)).text();

  assert.equal(await post(agent.notifyUrl, text), 200);
  await until(
    async () => JSON.parse(await ask("/v1/stats")).stats.ledger.channels[0].stored,
    (stored) => stored === 1,
  );
  assert.ok((await contents(path.join(folder, "data"))).some((content) => content.includes(text)));
  assert.match(await ask("/ui/"), /<script/);
  for (const file of ["main.js", "lib/preact.js", "page.css"])
    assert.equal((await fetch(`${agent.managementUrl}/ui/${file}`)).status, 200, file);
  await writeFile(path.join(folder, "agent.properties"), loggingAgent);
  agent.process.kill("SIGHUP");
  await until(
    () => ask("/v1/topology"),
    (topology) => topology.includes('"logger"'),
  );

  assert.equal(await agent.end("SIGTERM"), 0);
  assert.doesNotMatch(agent.errors.join("\n"), /compiled module/);
});

/** Of all files below a folder. */
async function contents(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return await Promise.all(files.map(({ parentPath, name }) => readFile(path.join(parentPath, name), "latin1")));
}

test("commands of the bundle alone read, count and erase what an agent has stored", async (context) => {
  const folder = await tempFolder(context);
  const main = await bundleAlone(context);
  const file = path.join(folder, "agent.properties");
  const agent = await startAgent(context, { properties: storing, folder, main });
  assert.equal(await post(agent.notifyUrl, notification("urn:ngsi-ld:Room:1", 21.5)), 200);
  const letters = await runCli(
    ["dead-letters", "list", "--management-port", new URL(agent.managementUrl).port],
    {},
    main,
  );
  assert.equal(await agent.end("SIGTERM"), 0);
  assert.match(letters.stdout, /no dead letters/, letters.stderr);
  const body = path.join(folder, "notification.json");
  await writeFile(body, notification("urn:ngsi-ld:Room:1", 21.5));
  const given = ["--config", file, "--data-dir", path.join(folder, "data")];
  const stopped = [...given, "--management-port", "1"];

  for (const { args, prints } of [
    { args: ["--version"], prints: /^\d/ },
    { args: ["--help"], prints: /dead-letters/ },
    { args: ["init", path.join(folder, "new.properties")], prints: /new\.properties/ },
    { args: ["check", "--config", file], prints: /is valid/ },
    { args: ["migrate", "--config", file], prints: /k\.type = rdb/ },
    { args: ["plugins"], prints: /jetstream/ },
    { args: ["docs", "--out", path.join(folder, "pages")], prints: /pages/ },
    { args: ["explain", body, ...given], prints: /Room/ },
    { args: ["sql", "select count(*) as n from sqlite_master", ...given], prints: /^n\n\d/ },
    { args: ["tables", "list", ...given], prints: /room/ },
    { args: ["export", ...given], prints: /21\.5/ },
    { args: ["verify", ...stopped], prints: /nothing differs/ },
    {
      args: ["erase", "--entity", "urn:ngsi-ld:Room:1", "--yes", ...stopped],
      prints: /1 row and 0 dead letters erased/,
    },
  ]) {
    const { code, stdout, stderr } = await runCli(args, {}, main);

    assert.equal(code, 0, `${args.join(" ")}: ${stderr}`);
    assert.match(stdout, prints, args.join(" "));
    assert.doesNotMatch(stderr, /compiled module/);
  }
});

test("the workers of an agent run from the bundle, too", async (context) => {
  const folder = await tempFolder(context);
  const main = await bundleAlone(context);

  const agent = await startAgent(context, { properties: loggingAgent, folder, main, flags: ["--workers", "2"] });

  assert.equal(await post(agent.notifyUrl, notification("urn:ngsi-ld:Room:1", 21.5)), 200);
  assert.equal(JSON.parse(await (await fetch(`${agent.managementUrl}/v1/stats`)).text()).stats.workers.length, 2);
  assert.equal(await agent.end("SIGTERM"), 0);
});

/** Says whether the text is found that the agent's own handler kept with the agent's own copy of the contract. */
const interceptor = `
  import { definePlugin, keptTextOf } from "deneb/sdk";
  export default definePlugin({
    kind: "interceptor", type: "looking", summary: "For tests.", stability: "beta", config: {},
    create: (_config, context) => ({
      intercept: (event) => {
        context.log.info({ found: keptTextOf(event.body) !== undefined }, "looked");
        return event;
      },
    }),
  });`;

/** With a channel that takes texts: otherwise none is kept. */
const lookingAgent = `${loggingAgent.replace("c.type = memory", "c.type = file")}
a.sources.http-source.interceptors = look
a.sources.http-source.interceptors.look.type = looking
`;

for (const { says, given } of [
  { says: "--plugins FOLDER", given: (folder: string) => ({ flags: ["--plugins", folder] }) },
  { says: "--plugins=FOLDER", given: (folder: string) => ({ flags: [`--plugins=${folder}`] }) },
  { says: "the variable DENEB_PLUGINS", given: (folder: string) => ({ env: { DENEB_PLUGINS: folder } }) },
])
  test(`a plugin that is named by ${says} shares the contract with the plugins of the program`, async (context) => {
    const folder = await tempFolder(context);
    await writeFiles(folder, { "plugins/looking/index.mjs": interceptor });

    const plugins = given(path.join(folder, "plugins"));
    const agent = await startAgent(context, { properties: lookingAgent, folder, ...plugins });
    assert.equal(await post(agent.notifyUrl, notification("urn:ngsi-ld:Room:1", 21.5)), 200);
    const looked = await until(
      async () => agent.lines.find(({ message, msg }) => (message ?? msg) === "looked"),
      (line) => line !== undefined,
    );

    assert.equal(looked?.["found"], true);
    assert.equal(await agent.end("SIGTERM"), 0);
  });

test("each module of the program is in one file of the bundle, once", async () => {
  const names = (await readdir(bundle)).filter((name) => name.endsWith(".js"));
  const texts = await Promise.all(names.map((name) => readFile(path.join(bundle, name), "utf8")));
  const modules = texts.flatMap((text) => [...text.matchAll(/^\/\/ (dist\/\S+\.js)$/gm)].map(([, file]) => file));

  assert.ok(modules.length > 400);
  assert.ok(modules.includes("dist/core/sdk/kept-text.js"));
  assert.deepEqual(
    modules.filter((file, at) => modules.indexOf(file) !== at),
    [],
  );
});

test("the file of an agent that starts imports nothing of the management interface or of an optional package", async () => {
  const loaded = new Set(["process.js", "agent.js"]);
  const packages: string[] = [];
  for (const name of loaded) {
    const text = await readFile(path.join(bundle, name), "utf8");
    const imported = [
      ...text.matchAll(/^(?:\(function .*\{"use strict";)?(?:const|let) \w+ = require\("([^"]+)"\);$/gm),
    ].map(([, from = ""]) => from);
    for (const from of imported)
      if (from.startsWith("./")) loaded.add(from.slice(2));
      else if (!from.startsWith("node:")) packages.push(from);
  }

  assert.deepEqual(packages, []);
  assert.deepEqual([...loaded].toSorted(), ["agent.js", "process.js", "program.js", "rolldown-runtime.js"]);
});

test("the bundle has the license of each package in it", async () => {
  const { packages } = JSON.parse(await readFile(path.join(bundle, "origin.json"), "utf8"));
  const licenses = await readFile(path.join(bundle, "LICENSES.txt"), "utf8");

  assert.ok(packages.length > 20);
  for (const { name, version } of packages) assert.ok(licenses.includes(`${name} ${version} (`), name);
});
