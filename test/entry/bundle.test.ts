import assert from "node:assert/strict";
import { mkdir, readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { notification, post } from "../end-to-end/notification.js";
import { startAgent } from "../support/agent-process.js";
import { httpAgent } from "../support/http-agent.js";
import { repositoryRoot } from "../support/repository.js";
import type { Start } from "../support/start-probe.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";
import { writeFiles } from "../support/written-files.js";

const properties = httpAgent({ channel: "file", sink: "rdb", lines: ["a.sinks.k.rdb_dialect = sqlite"] });

/** Runs an agent that stores a notification, and returns the files of the program that its main thread has run. */
async function filesOfRun(context: TestContext, flags: readonly string[]): Promise<readonly string[]> {
  const folder = await tempFolder(context);
  const coverage = path.join(folder, "coverage");
  const agent = await startAgent(context, { properties, folder, flags, env: { NODE_V8_COVERAGE: coverage } });
  assert.equal(await post(agent.notifyUrl, notification("urn:ngsi-ld:Room:1", 1)), 200);
  await until(
    async () => (await fetch(`${agent.managementUrl}/v1/stats`)).text(),
    (text) => JSON.parse(text).stats.ledger.channels[0].stored === 1,
  );
  assert.equal((await fetch(`${agent.managementUrl}/ui/`)).status, 200);
  assert.equal(await agent.end("SIGTERM"), 0);

  const dist = path.join(repositoryRoot, "dist");
  const reports = await Promise.all(
    (await readdir(coverage))
      .filter((name) => name.endsWith(MAIN_THREAD))
      .map(async (name) => JSON.parse(await readFile(path.join(coverage, name), "utf8"))),
  );
  const files: readonly string[] = reports
    .flatMap(({ result }) => result)
    .flatMap(({ url }) => (url.startsWith("file:") ? [path.relative(dist, fileURLToPath(url))] : []));
  return [...new Set(files)].filter((file) => !file.startsWith(".."));
}

/** Other threads share no modules with it: those of the embedded database and of the watch on it run from compiled ones. */
const MAIN_THREAD = "-0.json";

const isCompiled = (file: string) =>
  /^(?:core|plugins)\//.test(file) && file !== "core/main.js" && !file.startsWith("core/entry/");

test("an agent without plugins of others stores a notification with the modules of its bundle alone", async (context) => {
  const files = await filesOfRun(context, []);

  assert.ok(files.includes("bundle/agent.js"), files.join(" "));
  assert.deepEqual(files.filter(isCompiled), []);
});

test("an agent with plugins of others stores a notification with the compiled modules alone", async (context) => {
  const plugins = path.join(await tempFolder(context), "plugins");
  await mkdir(plugins);
  await writeFiles(plugins, {
    "mine/index.js": 'import { definePlugin } from "deneb/sdk";\nexport default [];\nvoid definePlugin;\n',
  });

  const files = await filesOfRun(context, ["--plugins", plugins]);

  assert.ok(files.includes("core/process.js"), files.join(" "));
  assert.deepEqual(
    files.filter((file) => file.startsWith("bundle/")),
    [],
  );
});

/** Another Node than that of the build does not use what was compiled. */
const ofBuild = await readFile(path.join(repositoryRoot, "dist/bundle/compiled/node-version"), "utf8").catch(() => "");
const skip = ["", process.version].includes(ofBuild) ? false : `Node ${ofBuild} made the build`;

test("an agent starts with code that was compiled before, also that of Node", { skip }, async (context) => {
  const folder = await tempFolder(context);
  const output = path.join(folder, "start.json");
  const probe = pathToFileURL(path.join(repositoryRoot, "dist/test/support/start-probe.js")).href;
  const env = { NODE_OPTIONS: `--import ${probe}`, DENEB_START_FILE: output };
  const agent = await startAgent(context, { properties, folder, env });
  assert.equal(await post(agent.notifyUrl, notification("urn:ngsi-ld:Room:1", 1)), 200);
  assert.equal((await fetch(`${agent.managementUrl}/v1/stats`)).status, 200);
  assert.equal(await agent.end("SIGTERM"), 0);

  const { scripts, late }: Start = JSON.parse(await readFile(output, "utf8"));

  // What is loaded in the moment in which a thread begins is compiled anew: the flags are others then.
  for (const name of ["process.js", "program.js", "agent.js", "file-channel.js", "rdb-sink.js"])
    assert.deepEqual(
      scripts.find((script) => script.name === name),
      { name, fromKept: true },
    );
  assert.deepEqual(
    late,
    [],
    "modules of Node that are loaded after the flags of V8 were set, and not listed in heap.ts",
  );
});

test("no file of the bundle holds a character that needs two bytes", async () => {
  const folder = path.join(repositoryRoot, "dist", "bundle");
  const files = (await readdir(folder)).filter((name) => name.endsWith(".js"));
  const texts = await Promise.all(files.map((name) => readFile(path.join(folder, name), "latin1")));
  assert.deepEqual(
    [files.includes("agent.js"), files.filter((_, at) => /[\u0080-\uffff]/.test(texts[at] ?? ""))],
    [true, []],
  );
});
