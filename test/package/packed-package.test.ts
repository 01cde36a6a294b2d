import assert from "node:assert/strict";
import { mkdir, readdir, readFile, symlink } from "node:fs/promises";
import path from "node:path";
import { after, test } from "node:test";
import { brokenAnchors, brokenLinks } from "../repository/page-links.js";
import { startAgent } from "../support/agent-process.js";
import { npm, type Ran, ran } from "../support/example-package.js";
import { loggingAgent } from "../support/logging-agent.js";
import { packedPackage } from "../support/packed-package.js";
import { tempFolder } from "../support/temp-folder.js";
import { writeFiles } from "../support/written-files.js";

const revision = "0123456789abcdef0123456789abcdef01234567";
const packed = await packedPackage(revision);
after(() => packed.remove());
const { folder, files, parent } = packed;
const main = path.join(folder, "dist", "core", "main.js");
const offline = ["--offline", "--no-audit", "--no-fund"];

test("every link of a packed page leads to a file or a heading of the package", async () => {
  assert.ok(files.filter((file) => file.endsWith(".md")).length > 100);
  assert.deepEqual(await brokenLinks(folder, files), []);
  assert.deepEqual(await brokenAnchors(folder, files), []);
});

test("every page and file that a packed properties file or a message of the program names is in the package", async () => {
  const folders = new Set(files.flatMap((file) => foldersOf(file)));
  const texts = files.filter((file) => /^config\/.*\.properties$|^dist\/(?:core|plugins)\/.*\.js$/.test(file));

  const named = await Promise.all(
    texts.map(async (file) => {
      const text = await readFile(path.join(folder, file), "utf8");
      return [...text.matchAll(/(?<![\w./@-])(?:docs|config|plugins|test)\/[\w./-]*\w/g)].map(([name]) => name);
    }),
  );

  const pages = [...new Set(named.flat())].filter((name) => /\.(?:md|properties)$|^docs/.test(name));
  assert.ok(pages.length > 3, pages.join());
  assert.deepEqual(
    pages.filter((name) => !folders.has(name) && !files.some((file) => file.startsWith(name))),
    [],
  );
});

test("the package holds what runs and nothing that was left behind: no source map, no test, no earlier build", async () => {
  const unwanted = files.filter(
    (file) =>
      /\.map$|\.tsbuildinfo$|left-behind|^dist\/test|^dist\/bundle\/compiled|node_modules/.test(file) ||
      /^(?:core|plugins)\/.*\.ts$/.test(file),
  );
  const scripts = files.filter((file) => /\.(?:js|d\.ts)$/.test(file));
  const mapped = await Promise.all(
    scripts.map(async (file) =>
      /^\/\/# sourceMappingURL=/m.test(await readFile(path.join(folder, file), "utf8")) ? [file] : [],
    ),
  );

  assert.deepEqual(unwanted, []);
  assert.deepEqual(
    mapped.flat().filter((file) => file.startsWith("dist/")),
    [],
  );
  for (const needed of [
    "LICENSE",
    "README.md",
    "CHANGELOG.md",
    "dist/core/main.js",
    "dist/bundle/process.js",
    "dist/bundle/LICENSES.txt",
    "dist/plugins/names.json",
    "plugins/rdb-sink/README.md",
  ])
    assert.ok(files.includes(needed), needed);
});

test("the installed program tells its version and the revision that it was packed from", async () => {
  const { version } = JSON.parse(await readFile(path.join(folder, "package.json"), "utf8"));

  const { code, output } = await program(["--version"]);

  assert.deepEqual([code, output], [0, `${version}.${revision}\n`]);
});

test("the installed program writes a starter file, checks it and lists its plugins", async (context) => {
  const file = path.join(await tempFolder(context), "agent.properties");

  assert.equal((await program(["init", file])).code, 0);
  assert.equal((await program(["check", "--config", file])).code, 0);
  assert.match((await program(["plugins"])).output, /^sink +rdb /m);
});

test("the installed program runs an agent from its bundle", async (context) => {
  const agentFolder = await tempFolder(context);
  const coverage = path.join(agentFolder, "coverage");
  const env = { NODE_V8_COVERAGE: coverage };

  const agent = await startAgent(context, { properties: loggingAgent, folder: agentFolder, main, env });
  assert.equal(await agent.end("SIGTERM"), 0);

  const reports = await Promise.all(
    (await readdir(coverage)).map((name) => readFile(path.join(coverage, name), "utf8")),
  );
  assert.ok(reports.some((report) => report.includes("/deneb/dist/bundle/agent.js")));
  assert.ok(!reports.some((report) => report.includes("/deneb/dist/core/process.js")));
});

test("a new plugin of the installed program is installed, tested and given on without any registry", async () => {
  const made = await program(["plugin", "new", "sink", "mine", "--language", "javascript", "--into", parent]);
  const mine = path.join(parent, "mine");
  const user = path.join(parent, "user");
  await writeFiles(user, { "package.json": "{}" });

  const installed = await npm(mine, "install", ...offline);
  const tested = await npm(mine, "test");
  const archive = await npm(mine, "pack", "--silent", "--pack-destination", parent);
  const used = await npm(user, "install", ...offline, path.join(parent, "deneb-plugin-mine-0.1.0.tgz"));

  for (const { code, output } of [made, installed, tested, archive, used]) assert.equal(code, 0, output);
  const { devDependencies } = JSON.parse(await readFile(path.join(mine, "package.json"), "utf8"));
  assert.deepEqual(devDependencies, { deneb: "file:../node_modules/deneb" });
  assert.deepEqual((await readdir(path.join(user, "node_modules", "deneb-plugin-mine"))).toSorted(), [
    "LICENSE",
    "README.md",
    "config.js",
    "conformance.js",
    "index.d.ts",
    "index.js",
    "mine.js",
    "package.json",
  ]);
  assert.match((await program(["plugins", "--plugins", path.join(user, "node_modules")])).output, /^sink +mine /m);
});

test("a new plugin finds Deneb too when its folder is reached over a symbolic link at another depth", async (context) => {
  const elsewhere = await tempFolder(context);
  await mkdir(path.join(parent, "a", "b"), { recursive: true });
  const link = path.join(elsewhere, "link");
  await symlink(path.join(parent, "a", "b"), link);

  const made = await program(["plugin", "new", "sink", "linked", "--language", "javascript", "--into", link]);
  const installed = await npm(path.join(link, "linked"), "install", ...offline);

  assert.equal(made.code, 0, made.output);
  assert.equal(installed.code, 0, installed.output);
  const manifest = await readFile(path.join(link, "linked", "package.json"), "utf8");
  assert.equal(JSON.parse(manifest).devDependencies.deneb, "file:../../../node_modules/deneb");
});

function foldersOf(file: string): readonly string[] {
  const parts = file.split("/");
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join("/"));
}

function program(args: readonly string[]): Promise<Ran> {
  return ran(process.execPath, [main, ...args], { cwd: parent });
}
