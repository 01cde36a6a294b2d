import assert from "node:assert/strict";
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { discover } from "../../core/registry/discover.js";
import { isOfOthers } from "../../core/sdk/plugins-of-others.js";

interface Declared {
  readonly kind?: string;
  readonly type?: string;
  readonly aliases?: readonly string[];
  readonly config?: string;
}

function definition({ kind = "sink", type = "any", aliases = [], config = "{}" }: Declared): string {
  const members = `kind: "${kind}", type: "${type}", aliases: ${JSON.stringify(aliases)}, config: ${config}`;
  return `{ ${members}, summary: "Does.", stability: "stable", create: () => ({}) }`;
}

function exporting(...plugins: readonly Declared[]): string {
  const [only, ...others] = plugins;
  if (only !== undefined && others.length === 0) return `export default ${definition(only)};`;
  return `export default [${plugins.map(definition).join(", ")}];`;
}

async function folderOf(context: TestContext, files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "deneb-plugins-"));
  context.after(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(folder, path, ".."), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  return folder;
}

test("plugins are listed by kind and type, and found by type or alias in any letter case", async (context) => {
  const folder = await folderOf(context, {
    "b/index.js": exporting({ type: "rdb", aliases: ["org.example.RelationalSink"] }),
    "a/index.mjs": exporting({ type: "logger" }, { kind: "channel", type: "memory" }),
    "no-plugin/other.js": "throw new Error('must not be loaded');",
  });

  const { catalogue, problems } = await discover([folder]);

  assert.deepEqual(problems, []);
  const listed = catalogue.list().map((plugin) => [plugin.definition.kind, plugin.definition.type, plugin.origin]);
  assert.deepEqual(listed, [
    ["channel", "memory", join(folder, "a", "index.mjs")],
    ["sink", "logger", join(folder, "a", "index.mjs")],
    ["sink", "rdb", join(folder, "b", "index.js")],
  ]);
  assert.equal(catalogue.find("sink", "RDB")?.type, "rdb");
  assert.equal(catalogue.find("sink", "ORG.EXAMPLE.relationalSink")?.type, "rdb");
  assert.equal(catalogue.find("channel", "rdb"), undefined);
});

test("a folder that is a link is a plugin, a hidden one is not, and of two index files the first counts", async (context) => {
  const elsewhere = await folderOf(context, { "made/index.js": exporting({ type: "linked" }) });
  const folder = await folderOf(context, {
    "a/index.js": exporting({ type: "first" }),
    "a/index.mjs": "throw new Error('must not be loaded');",
    ".b/index.js": "throw new Error('must not be loaded');",
    "c/package.json": '{ "type": "module", "keywords": ["deneb-plugin"], "main": "main.js" }',
    "c/main.js": exporting({ type: "packaged" }),
    "d/index.js/of-a-folder.js": "throw new Error('must not be loaded');",
  });
  await symlink(join(elsewhere, "made"), join(folder, "e"));

  const { catalogue, problems } = await discover([folder]);

  assert.deepEqual(problems, []);
  assert.deepEqual(
    catalogue.list().map(({ definition, origin }) => [definition.type, origin]),
    [
      ["first", join(folder, "a", "index.js")],
      ["linked", join(folder, "e", "index.js")],
      ["packaged", join(folder, "c", "main.js")],
    ],
  );
});

test("a folder that may not be read is named with the reason, and the others are loaded", async (context) => {
  if (process.getuid?.() === 0) return context.skip("root may read every folder");
  const closed = await folderOf(context, { "a/index.js": exporting({ type: "closed" }) });
  await rm(join(closed, "package.json"));
  await chmod(closed, 0o100);
  const open = await folderOf(context, { "a/index.js": exporting({ type: "open" }) });

  const { catalogue, problems } = await discover([closed, open]).finally(() => chmod(closed, 0o700));

  assert.deepEqual(
    catalogue.list().map(({ definition }) => definition.type),
    ["open"],
  );
  const [problem] = problems;
  assert.equal(problem?.origin, closed);
  assert.match(problem.cause, /cannot be read: .*EACCES/);
});

test("a package that was not built is named with the file that is missing, and the remedy", async (context) => {
  const manifest = { type: "module", keywords: ["deneb-plugin"], exports: "./dist/index.js" };
  const folder = await folderOf(context, { "package.json": JSON.stringify(manifest) });

  const { problems } = await discover([folder]);

  assert.deepEqual(problems, [
    {
      origin: join(folder, "dist", "index.js"),
      cause: "is what its package names as its code, and is not there",
      remedy: "build the package (npm run build), or remove its folder",
    },
  ]);
});

for (const imported of ["deneb", "deneb/core", "deneb/sdk/sink"])
  test(`a plugin that imports "${imported}" has an error that says what it can import, and to install nothing`, async (context) => {
    const folder = await folderOf(context, { "wrong/index.js": `import "${imported}";` });

    const { problems } = await discover([folder]);

    const remedies = problems.map(({ remedy }) => remedy);
    assert.equal(remedies.length, 1);
    assert.match(remedies.join(), /^import from deneb\/sdk, .*; install no package for it$/);
  });

const broken = [
  { says: "a syntax error", text: "export default {", cause: /could not be loaded: / },
  {
    says: "an error while it loads",
    text: "throw new Error('no driver');",
    cause: /could not be loaded: .*index.js:1: no driver/,
  },
  {
    says: "something thrown that is no text",
    text: "throw Object.create(null);",
    cause: /could not be loaded: something was thrown that cannot be made a text/,
  },
  {
    says: "a member that throws",
    text: "export default { get kind() { throw new Error('too early'); } };",
    cause: /has a definition that cannot be read: too early/,
  },
  { says: "an import that is missing", text: "import 'not-installed';", cause: /could not be loaded: .*not-installed/ },
  { says: "no default export", text: "export const plugin = 1;", cause: /no plugin definition/ },
  { says: "an empty list as its default export", text: "export default [];", cause: /no plugin definition/ },
  {
    says: "an unknown kind",
    text: exporting({ kind: "sinc" }),
    cause: /plugin "any" whose "kind" is not one of source,/,
  },
  { says: "a type with capitals", text: exporting({ type: "Rdb" }), cause: /"type" is not a name in lower case/ },
  { says: "no create", text: exporting({}).replace("create:", "make:"), cause: /"create" is not a function/ },
  { says: "no summary", text: exporting({}).replace("Does.", ""), cause: /"summary" is not a sentence/ },
  {
    says: "an unknown format",
    text: exporting({ config: '{ a: { doc: "A.", format: "nat" } }' }),
    cause: /property "a" has an unknown format/,
  },
  {
    says: "a list of no choices",
    text: exporting({ config: '{ a: { doc: "A.", format: { listOf: [] } } }' }),
    cause: /property "a" has an unknown format/,
  },
  {
    says: "an unknown format of a field",
    text: exporting({ config: '{ a: { doc: "A.", format: { fields: { b: { doc: "B.", format: "nat" } } } } }' }),
    cause: /property "a.b" has an unknown format/,
  },
  {
    says: "an object without fields",
    text: exporting({ config: '{ a: { doc: "A.", format: { fields: {} } } }' }),
    cause: /property "a" has fields that are no schema/,
  },
  {
    says: "an object with a default",
    text: exporting({
      config: '{ a: { doc: "A.", default: {}, format: { fields: { b: { doc: "B.", format: "flag" } } } } }',
    }),
    cause: /property "a" has fields and "default"/,
  },
  {
    says: "a field with the name of a property",
    text: exporting({
      config: `{
        "a.b": { doc: "B.", format: "flag" },
        a: { doc: "A.", format: { fields: { b: { doc: "B.", format: "flag" } } } },
      }`,
    }),
    cause: /property "a.b" is declared twice, by its name and as a field/,
  },
  {
    says: "fields without end",
    text: `const a = { doc: "A.", format: { fields: {} } }; a.format.fields.a = a; ${exporting({ config: "{ a }" })}`,
    cause: /property "a.a.a.a.a.a" has fields more than 5 deep/,
  },
  {
    says: "an undocumented property",
    text: exporting({ config: '{ a: { format: "text" } }' }),
    cause: /property "a" has no doc sentence/,
  },
];
for (const { says, text, cause } of broken) {
  test(`a plugin with ${says} is a problem of its own and the others are loaded`, async (context) => {
    const folder = await folderOf(context, { "a-broken/index.js": text, "good/index.js": exporting({ type: "good" }) });

    const { catalogue, problems } = await discover([folder]);

    assert.deepEqual([...new Set(problems.map(({ origin }) => origin))], [join(folder, "a-broken", "index.js")]);
    assert.match(problems[0]?.cause ?? "", cause);
    assert.notEqual(problems[0]?.remedy, "");
    assert.deepEqual(
      catalogue.list().map((plugin) => plugin.definition.type),
      ["good"],
    );
  });
}

test("of two plugins with one type the first by folder order, then name, is used and both files are named", async (context) => {
  const first = await folderOf(context, { "z/index.js": exporting({ type: "rdb" }) });
  const second = await folderOf(context, {
    "a/index.js": exporting({ type: "rdb", aliases: ["other"] }),
    "b/index.js": exporting({ type: "logger", aliases: ["RDB", "log"] }),
  });

  const { catalogue, problems } = await discover([first, second, first]);

  assert.deepEqual(
    problems.map(({ origin, cause }) => `${origin} ${cause}`),
    [
      `${join(second, "a", "index.js")} declares the sink "rdb", which ${join(first, "z", "index.js")} declares too; the first one is used`,
      `${join(second, "b", "index.js")} declares the sink "RDB", which ${join(first, "z", "index.js")} declares too; the first one is used`,
    ],
  );
  assert.deepEqual(
    catalogue.list().map(({ origin }) => origin),
    [join(second, "b", "index.js"), join(first, "z", "index.js")],
  );
  assert.equal(catalogue.find("sink", "log")?.type, "logger");
  assert.equal(catalogue.find("sink", "other"), undefined);
});

test("a folder that does not exist is a problem", async () => {
  const { catalogue, problems } = await discover([join(tmpdir(), "deneb-no-such-folder")]);

  assert.deepEqual(catalogue.list(), []);
  assert.deepEqual(
    problems.map(({ cause }) => cause),
    ["is not a folder"],
  );
});

test("a package.json that is not JSON is a problem, and the other plugins of the folder are used", async (context) => {
  const folder = await folderOf(context, {
    "good/index.js": exporting({ type: "good" }),
    "torn/package.json": '{ "name": ',
    "torn/index.ts": "",
  });

  const { catalogue, problems } = await discover([folder]);

  assert.equal(catalogue.find("sink", "good")?.type, "good");
  assert.deepEqual(
    problems.map(({ origin, cause }) => [origin, cause.split(":", 1)[0]]),
    [[join(folder, "torn", "package.json"), "is not JSON"]],
  );
});

test("a package whose code has an extension that Node does not run has to be built, its problem says", async (context) => {
  const manifest = JSON.stringify({ type: "module", keywords: ["deneb-plugin"], exports: "./index.tsx" });
  const folder = await folderOf(context, { "raw/package.json": manifest, "raw/index.tsx": "" });

  const { problems } = await discover([folder]);

  assert.match(problems.map(({ remedy }) => remedy).join(), /^this Node runs JavaScript only: build the package/);
});

test("a folder that is itself a plugin is one, and a folder without any is a problem", async (context) => {
  const plugin = await folderOf(context, { "index.js": exporting({ type: "alone" }) });
  const empty = await folderOf(context, { "readme.txt": "nothing" });

  const { catalogue, problems } = await discover([plugin, empty]);

  assert.equal(catalogue.find("sink", "alone")?.type, "alone");
  assert.deepEqual(
    problems.map(({ origin, cause }) => [origin, cause]),
    [[empty, "holds no plugin"]],
  );
});

test("definitions of a folder are of others, those that come with the program are not", async (context) => {
  const folder = await folderOf(context, { "a/index.js": exporting({ type: "one" }, { type: "two" }) });
  const ours = new URL("../../plugins", import.meta.url);

  const [found, own] = await Promise.all([discover([folder]), discover([fileURLToPath(ours)])]);

  const judged = [found, own].map(({ catalogue }) => [
    ...new Set(catalogue.list().map(({ definition: one }) => isOfOthers(one))),
  ]);
  assert.deepEqual(judged, [[true], [false]]);
});
