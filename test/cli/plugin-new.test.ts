import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { type NewKind, newKinds } from "../../core/cli/scaffold/plugin-names.js";
import { command } from "../support/command.js";
import { exampleFolder, install, npm } from "../support/example-package.js";
import { testedTogether } from "../support/new-packages.js";
import { repositoryRoot } from "../support/repository.js";
import { runCli } from "../support/run-cli.js";
import { tempFolder } from "../support/temp-folder.js";
import { writeFiles } from "../support/written-files.js";

async function textsOf(folder: string): Promise<Readonly<Record<string, string>>> {
  const entries = await readdir(folder, { withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && entry.name !== "LICENSE").map(({ name }) => name);
  const texts = await Promise.all(files.map((name) => readFile(path.join(folder, name), "utf8")));
  return Object.fromEntries(
    files.map((name, index) => [name, (texts[index] ?? "").replace(/"file:[^"]*"/, '"file:"')]),
  );
}

for (const words of [["event-lines"], ["sink", "event-lines"], ["sql-sink", "one-file"]])
  test(`plugin new ${words.join(" ")} writes the example, word for word`, async (context) => {
    const folder = await tempFolder(context);
    const name = words.at(-1) ?? "";

    const { exitCode, out } = await command(["plugin", "new", ...words, "--into", folder]);

    assert.equal(exitCode, 0);
    assert.match(out, new RegExp(`next: cd .*${name} && npm install && npm test`));
    assert.deepEqual(await textsOf(path.join(folder, name)), await textsOf(exampleFolder(name)));
    const licence = await readFile(path.join(repositoryRoot, "LICENSE"), "utf8");
    assert.equal(await readFile(path.join(folder, name, "LICENSE"), "utf8"), licence);
    assert.match(await readFile(path.join(folder, name, ".github/workflows/ci.yml"), "utf8"), /npm run ci/);
  });

test("plugin new names the link to this Deneb in node_modules, and not the folder behind it", async (context) => {
  const folder = await tempFolder(context);
  await writeFiles(folder, { "node_modules/note.txt": "", "plugins/note.txt": "" });
  await symlink(repositoryRoot, path.join(folder, "node_modules", "deneb"));

  await command(["plugin", "new", "mine", "--into", path.join(folder, "plugins")]);

  const manifest = JSON.parse(await readFile(path.join(folder, "plugins/mine/package.json"), "utf8"));
  assert.equal(manifest.devDependencies.deneb, "file:../../node_modules/deneb");
});

test("plugin new overwrites no folder", async (context) => {
  const folder = await tempFolder(context);
  await writeFiles(folder, { "mine/note.txt": "kept" });

  const { exitCode, err } = await command(["plugin", "new", "mine", "--into", folder]);

  assert.equal(exitCode, 1);
  assert.match(err, /mine": it exists already; give another name/);
  assert.deepEqual(await readdir(path.join(folder, "mine")), ["note.txt"]);
});

const refused = [
  { words: ["Mine"], says: /"Mine" cannot be used: give lower case words/ },
  { words: ["../mine"], says: /cannot be used/ },
  { words: ["a b"], says: /cannot be used/ },
  { words: ["source", "@Scope/mine"], says: /cannot be used/ },
  { words: ["source", "@scope/../mine"], says: /cannot be used/ },
  { words: ["source", "@../mine"], says: /cannot be used/ },
  { words: ["a".repeat(215)], says: /cannot be used/ },
  { words: ["source"], says: /a name is missing: deneb plugin new source my-source/ },
  { words: ["sonk", "mine"], says: /"sonk" is not a kind of plugin; give one of sink, sql-sink, source/ },
  { words: ["channel", "memory"], says: /Deneb has a type of channel with it; give another name/ },
  { words: ["sink", "mine", "--language", "cobol"], says: /Allowed choices are ts/ },
] as const;

for (const { words, says } of refused)
  test(`plugin new ${words.join(" ").slice(0, 60)} says what to give instead and writes nothing`, async (context) => {
    const folder = await tempFolder(context);

    const { exitCode, err } = await command(["plugin", "new", ...words, "--into", folder]);

    assert.equal(exitCode, 2);
    assert.match(err, says);
    assert.deepEqual(await readdir(folder), []);
  });

/** The files that npm would publish of each package. */
async function packedFiles(...folders: readonly string[]): Promise<readonly (readonly string[])[]> {
  const { output } = await npm(
    repositoryRoot,
    "pack",
    "--dry-run",
    "--json",
    "--ignore-scripts",
    "--silent",
    ...folders,
  );
  const listed: readonly Packed[] = JSON.parse(output.slice(output.indexOf("[")));
  return listed.map(({ files }) => files.map((file) => file.path).toSorted());
}

interface Packed {
  readonly files: readonly { readonly path: string }[];
}

const layouts = {
  typescript: { language: "TypeScript", built: "dist/", source: "index.ts", declaration: "dist/index.d.ts" },
  javascript: { language: "JavaScript", built: "", source: "index.js", declaration: "index.d.ts" },
} as const;

interface Written {
  readonly kind: NewKind;
  readonly name: string;
  readonly layout: keyof typeof layouts;
  readonly packageName: string;
  readonly folder: string;
  readonly type: string;
  /** The file that does the work, without its extension. */
  readonly file: string;
}

/** Names that a template could trip over: words of the language, files and types that there are already, devices, scopes. */
const odd: readonly Written[] = [
  {
    kind: "sink",
    layout: "typescript",
    name: "delete",
    packageName: "deneb-plugin-delete",
    folder: "delete",
    type: "delete",
    file: "delete",
  },
  {
    kind: "sink",
    layout: "javascript",
    name: "batch-sink",
    packageName: "deneb-plugin-batch-sink",
    folder: "batch-sink",
    type: "batch-sink",
    file: "batch-sink",
  },
  {
    kind: "source",
    layout: "typescript",
    name: "config",
    packageName: "deneb-plugin-config",
    folder: "config",
    type: "config",
    file: "config-source",
  },
  {
    kind: "channel",
    layout: "typescript",
    name: "http",
    packageName: "deneb-plugin-http",
    folder: "deneb-plugin-http",
    type: "http",
    file: "http",
  },
  {
    kind: "handler",
    layout: "typescript",
    name: "con",
    packageName: "deneb-plugin-con",
    folder: "deneb-plugin-con",
    type: "con",
    file: "con-handler",
  },
  {
    kind: "sql-sink",
    layout: "typescript",
    name: "deneb-plugin-sql",
    packageName: "deneb-plugin-sql",
    folder: "sql",
    type: "sql",
    file: "store",
  },
  {
    kind: "selector",
    layout: "typescript",
    name: "@my-scope/new",
    packageName: "@my-scope/new",
    folder: "new",
    type: "new",
    file: "new",
  },
  {
    kind: "interceptor",
    layout: "typescript",
    name: "deneb",
    packageName: "deneb-plugin-deneb",
    folder: "deneb-plugin-deneb",
    type: "deneb",
    file: "deneb",
  },
];

const isOdd = (kind: NewKind, layout: keyof typeof layouts) =>
  odd.some((one) => one.kind === kind && one.layout === layout);
const usual = newKinds.flatMap((kind) =>
  (["typescript", "javascript"] as const)
    .filter((layout) => !isOdd(kind, layout))
    .map((layout): Written => {
      const name = `my-${kind}`;
      const file = kind === "sql-sink" ? "store" : name;
      return { kind, layout, name, packageName: `deneb-plugin-${name}`, folder: name, type: name, file };
    }),
);

const written = [...odd, ...usual];
let place = "";
before(async () => {
  place = await mkdtemp(path.join(tmpdir(), "deneb-new-plugins-"));
});
after(() => rm(place, { recursive: true, force: true }));
const placeOf = ({ kind, layout, folder }: Written) => path.join(place, `${kind}-${layout}`, folder);

for (const one of written) {
  const { kind, layout, name, packageName, type } = one;
  const { language, source } = layouts[layout];
  test(`the ${kind} ${name} in ${language} is the package ${packageName} of type ${type} and has tests of its own`, async () => {
    const folder = placeOf(one);

    const { exitCode, err } = await command([
      ...["plugin", "new", kind, name],
      ...["--language", layout, "--into", path.dirname(folder)],
    ]);

    assert.equal(exitCode, 0, err);
    const manifest: unknown = JSON.parse(await readFile(path.join(folder, "package.json"), "utf8"));
    assert.equal(Reflect.get(Object(manifest), "name"), packageName);
    assert.match(await readFile(path.join(folder, source), "utf8"), new RegExp(`type: "${type}"`));
    await install(folder, "libsql");
  });
}

test("each new package is built and passes its own tests", async () => {
  const { code, output } = await testedTogether(place, written.map(placeOf));

  assert.equal(code, 0, output);
  assert.match(output, /fail 0/);
});

test("each new package packs what it needs and nothing of its tests", async () => {
  const packed = await packedFiles(...written.map(placeOf));

  for (const [index, { packageName, layout, file }] of written.entries()) {
    const { built, declaration } = layouts[layout];
    const files = packed[index] ?? [];
    const needed = ["LICENSE", "README.md", "package.json", declaration, `${built}index.js`, `${built}${file}.js`];
    const missing = needed.filter((path) => !files.includes(path));
    const surplus = files.filter((path) => /\.test\.|tsconfig|\.github|node_modules/.test(path));
    assert.deepEqual([missing, surplus], [[], []], `${packageName}: ${files.join(", ")}`);
  }
});

test("a new package ships the report that its script writes", async () => {
  const folder = path.join(place, "interceptor-typescript", "deneb-plugin-deneb");
  const { scripts } = JSON.parse(await readFile(path.join(folder, "package.json"), "utf8"));
  const report = path.join(folder, "deneb-report.json");

  const { code, stdout } = await runCli(["plugin", "test", folder, "--report", report]);

  assert.equal(scripts.report, "tsc && deneb plugin test . --report deneb-report.json");
  assert.equal(code, 0, stdout);
  const [files = []] = await packedFiles(folder);
  assert.ok(files.includes("deneb-report.json"));
});
