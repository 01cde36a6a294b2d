import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, rm, stat, symlink, utimes } from "node:fs/promises";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { main } from "../support/run-cli.js";
import { tempFolder } from "../support/temp-folder.js";
import { writeFiles } from "../support/written-files.js";

// The entry beside programs that only say which one they are.

const { DENEB_PLUGINS: _folders, DENEB_PLUGIN_PACKAGES: _packages, ...plain } = process.env;

interface Layout {
  /** The content of origin.json; absent: there is no bundle. */
  readonly origin?: unknown;
  /** Packages by their path below the installed one, with their versions. */
  readonly packages?: Readonly<Record<string, string>>;
}

/** Installs the entry in a folder of a project, whose path no shell and no URL would take as it is. */
async function installed(context: TestContext, { origin, packages = {} }: Layout): Promise<string> {
  const project = path.join(await tempFolder(context), "a b#c%20");
  const root = path.join(project, "node_modules", "deneb");
  const says = (name: string) => `process.stdout.write(${JSON.stringify(name)});\n`;
  const manifests = Object.entries(packages).map(([folder, version]) => [
    path.join(root, folder, "package.json"),
    JSON.stringify({ version }),
  ]);
  await writeFiles(root, {
    "package.json": '{ "type": "module" }',
    "dist/core/process.js": says("compiled"),
    ...(origin === undefined ? {} : { "dist/bundle/process.js": `(function () { ${says("bundle")} })` }),
    ...(origin === undefined ? {} : { "dist/bundle/origin.json": JSON.stringify(origin) }),
    ...Object.fromEntries(manifests.map(([file = "", text]) => [path.relative(root, file), text])),
  });
  for (const name of ["main.js", "entry"])
    await cp(path.join(path.dirname(main), name), path.join(root, "dist", "core", name), { recursive: true });
  return root;
}

/** Which of the two programs the arguments load. */
function loaded(root: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
  const file = path.join(root, "dist", "core", "main.js");
  return new Promise((resolve) => {
    execFile(process.execPath, [file, ...args], { env: { ...plain, ...env } }, (_error, stdout, stderr) =>
      resolve(stdout + stderr),
    );
  });
}

const calls = [
  { args: ["run", "--config", "a.properties"], loads: "bundle" },
  { args: ["run", "-f", "a.properties", "--management-port", "0"], loads: "bundle" },
  { args: ["run"], env: { DENEB_PLUGINS: "", DENEB_PLUGIN_PACKAGES: "" }, loads: "bundle" },
  { args: ["run", "--plugins", "folder"], loads: "compiled" },
  { args: ["run", "--plugins=folder"], loads: "compiled" },
  { args: ["run", "--config", "a.properties", "--plugins", "one", "two"], loads: "compiled" },
  { args: ["run", "--plugin-packages", "name"], loads: "compiled" },
  { args: ["run", "--plugin-packages=name"], loads: "compiled" },
  { args: ["run", "--", "--plugins", "folder"], loads: "compiled" },
  { args: ["run", "--config", "--plugins", "folder"], loads: "compiled" },
  { args: ["run"], env: { DENEB_PLUGINS: "folder" }, loads: "compiled" },
  { args: ["run"], env: { DENEB_PLUGIN_PACKAGES: "name" }, loads: "compiled" },
  { args: ["check", "--config", "a.properties"], loads: "bundle" },
  { args: ["check", "--config", "a.properties", "--plugins=folder"], loads: "compiled" },
  { args: ["verify"], env: { DENEB_PLUGINS: "folder" }, loads: "compiled" },
  { args: ["plugins"], loads: "bundle" },
  { args: ["plugin", "dev", "run"], loads: "compiled" },
  { args: ["plugin"], loads: "compiled" },
  { args: ["--version", "run"], loads: "bundle" },
  { args: ["--plugins", "folder", "run"], loads: "compiled" },
  { args: [], loads: "bundle" },
] as const;

for (const { args, loads, ...given } of calls) {
  const env = "env" in given ? given.env : {};
  const variables = Object.entries(env).map(([name, value]) => `${name}="${value}" `);
  test(`${variables.join("")}deneb ${args.join(" ")} loads the ${loads} program`, async (context) => {
    const root = await installed(context, { origin: { packages: [] } });

    assert.equal(await loaded(root, args, env), loads);
  });
}

test("without a bundle, and with one that is not whole, run loads the compiled program", async (context) => {
  const without = await installed(context, {});
  const unfinished = await installed(context, { origin: { packages: [] } });
  await rm(path.join(unfinished, "dist", "bundle", "origin.json"));
  const unreadable = await installed(context, { origin: "nothing" });

  for (const root of [without, unfinished, unreadable]) assert.equal(await loaded(root, ["run"]), "compiled");
});

test("a bundle is not loaded once the compiler has written after it", async (context) => {
  const root = await installed(context, { origin: { packages: [] } });
  const compiler = path.join(root, "dist", "tsconfig.tsbuildinfo");
  await writeFiles(root, { "dist/tsconfig.tsbuildinfo": "{}" });
  const { mtimeMs: compiledAt } = await stat(compiler);
  const origin = JSON.stringify({ compiledAt, packages: [] });

  const ofOther = await loaded(root, ["run"]);
  await writeFiles(root, { "dist/bundle/origin.json": origin });
  const ofThis = await loaded(root, ["run"]);
  await utimes(compiler, 0, compiledAt / 1000 - 60);
  const ofEarlier = await loaded(root, ["run"]);

  assert.deepEqual([ofOther, ofThis, ofEarlier], ["compiled", "bundle", "compiled"]);
});

const one = { name: "one", version: "1.0.0" };
const two = { name: "@scope/two", version: "2.0.0", from: 0 };
const installs = [
  { says: "side by side", packages: { "../one": "1.0.0", "../@scope/two": "2.0.0" }, loads: "bundle" },
  { says: "in the package", packages: { "node_modules/one": "1.0.0", "../@scope/two": "2.0.0" }, loads: "bundle" },
  {
    says: "one in the other",
    packages: { "../one": "1.0.0", "../one/node_modules/@scope/two": "2.0.0", "../@scope/two": "3.0.0" },
    loads: "bundle",
  },
  { says: "with a newer version", packages: { "../one": "1.0.1", "../@scope/two": "2.0.0" }, loads: "compiled" },
  {
    says: "with another version for the program",
    packages: { "../one": "1.0.0", "node_modules/one": "1.1.0", "../@scope/two": "2.0.0" },
    loads: "compiled",
  },
  {
    says: "with another version for what imports it",
    packages: { "../one": "1.0.0", "../@scope/two": "2.0.0", "../one/node_modules/@scope/two": "2.0.1" },
    loads: "compiled",
  },
  { says: "not all of them", packages: { "../one": "1.0.0" }, loads: "compiled" },
];

for (const { says, packages, loads } of installs)
  test(`with the packages of a bundle installed ${says}, run loads the ${loads} program`, async (context) => {
    const root = await installed(context, { origin: { packages: [one, two] }, packages });

    assert.equal(await loaded(root, ["run"]), loads);
  });

test("a program that is reached over links loads the bundle beside the real one, and compares the packages there", async (context) => {
  const packages = { "../one": "1.0.0", "../@scope/two": "2.0.0" };
  const root = await installed(context, { origin: { packages: [one, two] }, packages });
  const elsewhere = await tempFolder(context);
  await symlink(root, path.join(elsewhere, "linked"));
  await symlink(path.join(root, "dist", "core", "main.js"), path.join(elsewhere, "deneb"));

  assert.equal(await loaded(path.join(elsewhere, "linked"), ["run"]), "bundle");
  const { stdout } = await new Promise<{ readonly stdout: string }>((resolve) =>
    execFile(process.execPath, [path.join(elsewhere, "deneb"), "run"], { env: plain }, (_error, stdout) =>
      resolve({ stdout }),
    ),
  );
  assert.equal(stdout, "bundle");
});

for (const signal of ["SIGINT", "SIGTERM"] as const)
  test(`an agent that ${signal} asks to stop before its program listens ends with the exit code of a stop`, async (context) => {
    const root = await installed(context, {});
    const waiting = 'process.stdout.write("loading"); setInterval(() => {}, 1000);';
    await writeFiles(root, { "dist/core/process.js": waiting });
    const agent = spawn(process.execPath, [path.join(root, "dist", "core", "main.js"), "run"], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    context.after(() => agent.kill("SIGKILL"));
    const ended = once(agent, "exit");
    await once(agent.stdout, "data");

    agent.kill(signal);

    assert.deepEqual(await ended, [0, null]);
  });
