import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { install } from "../support/example-package.js";
import { writeFiles } from "../support/written-files.js";

const compilerOptions = {
  target: "es2023",
  module: "nodenext",
  types: ["node"],
  strict: true,
  exactOptionalPropertyTypes: true,
  noEmit: true,
  skipLibCheck: true,
} as const;

const declared = `summary: "Does.", stability: "beta"`;

function sink(members: string): string {
  return `import { definePlugin, type Sink } from "deneb/sdk";
declare const made: Sink;
export const plugin = definePlugin({ kind: "sink", type: "x", ${declared}, ${members} });`;
}

function withProperty(property: string): string {
  return sink(`config: { x: { doc: "X.", ${property} } }, create: () => made`);
}

interface Snippet {
  readonly name: string;
  readonly code: string;
  /** What the compiler says; absent: it compiles. */
  readonly says?: string;
}

const kinds = ["source", "handler", "interceptor", "channel", "selector", "sink", "sink-processor"] as const;

const snippets: readonly Snippet[] = [
  {
    name: "the type of a configuration is shown by its properties",
    code: `import { definePlugin } from "deneb/sdk";
export const plugin = definePlugin({
  kind: "sink", type: "x", ${declared},
  config: {
    port: { doc: "P.", format: "port" },
    on: { doc: "O.", format: { listOf: ["a", "b"] } },
    retry: { doc: "R.", format: { fields: { times: { doc: "T.", format: "count" } } } },
  },
  create: (config) => { const shown: never = config; return shown; },
});`,
    says: "Type '{ readonly port: number; readonly on: readonly (\"a\" | \"b\")[]; readonly retry: { readonly times: number; }; }' is not assignable to type 'never'.",
  },
  {
    name: "so is that of a schema in a file of its own",
    code: `import type { ConfigOf, Schema } from "deneb/sdk";
const schema = { port: { doc: "P.", format: "port" } } as const satisfies Schema;
export const shown = (config: ConfigOf<typeof schema>): never => config;`,
    says: "Type '{ readonly port: number; }' is not assignable to type 'never'.",
  },
  { name: "a default among the choices compiles", code: withProperty('format: ["a", "b"], default: "b"') },
  {
    name: "a default that is no choice does not compile",
    code: withProperty('format: ["a", "b"], default: "c"'),
    says: 'Type \'"c"\' is not assignable to type \'"a" | "b"\'.',
  },
  {
    name: "a default that is no choice does not compile in a schema of its own file either",
    code: `import { definePlugin, type Schema, type Sink } from "deneb/sdk";
declare const made: Sink;
const schema = { x: { doc: "X.", format: ["a", "b"], default: "c" } } as const satisfies Schema;
export const plugin = definePlugin({ kind: "sink", type: "x", ${declared}, config: schema, create: () => made });`,
    says: 'Type \'"c"\' is not assignable to type \'"a" | "b"\'.',
  },
  { name: "a list of choices by default compiles", code: withProperty('format: { listOf: ["a"] }, default: ["a"]') },
  {
    name: "a list with another text by default does not compile",
    code: withProperty('format: { listOf: ["a"] }, default: ["a", "c"]'),
    says: "Type '\"c\"' is not assignable to type '\"a\"'.",
  },
  {
    name: "a text as the default of a port does not compile",
    code: withProperty('format: "port", default: "80"'),
    says: "Type 'string' is not assignable to type 'number'.",
  },
  {
    name: "a default of the wrong type in a field does not compile",
    code: withProperty('format: { fields: { y: { doc: "Y.", format: "flag", default: 1 } } }'),
    says: "Type 'number' is not assignable to type 'boolean'.",
  },
  {
    name: "a default of an object of fields does not compile",
    code: withProperty('format: { fields: { y: { doc: "Y.", format: "flag" } } }, default: "on"'),
    says: "Type 'string' is not assignable to type 'never'.",
  },
  {
    name: "a function makes plugins of any schema",
    code: `import { type ConfigOf, definePlugin, type Schema, type Sink, type WithDefaults } from "deneb/sdk";
export function make<const S extends Schema & WithDefaults<S>>(schema: S, create: (config: ConfigOf<S>) => Sink) {
  return definePlugin({ kind: "sink", type: "x", ${declared}, config: schema, create });
}
declare const made: Sink;
export const plugin = make({ x: { doc: "X.", format: "port", default: 1 } }, ({ x }) => (x > 1 ? made : made));`,
  },
  {
    name: "a schema whose properties are not known compiles",
    code: `import { definePlugin, type Schema, type Sink } from "deneb/sdk";
declare const made: Sink;
declare const schema: Schema;
export const plugin = definePlugin({ kind: "sink", type: "x", ${declared}, config: schema, create: () => made });`,
  },
  {
    name: "a check names a field by its path",
    code: sink(
      `config: { x: { doc: "X.", format: { fields: { y: { doc: "Y.", format: "flag" } } } } },
       check: () => [{ property: "x.y", reason: "is on" }], create: () => made`,
    ),
  },
  {
    name: "a check that names what is no field does not compile",
    code: sink(
      `config: { x: { doc: "X.", format: { fields: { y: { doc: "Y.", format: "flag" } } } } },
       check: () => [{ property: "x.z", reason: "is on" }], create: () => made`,
    ),
    says: 'Type \'"x.z"\' is not assignable to type \'"type" | "x.y"\'.',
  },
  ...kinds.flatMap((kind) =>
    ["create() {}", "create: () => undefined"].map((create) => ({
      name: `a ${kind} with ${create} does not compile`,
      code: `import { definePlugin } from "deneb/sdk";
export const plugin = definePlugin({ kind: "${kind}", type: "x", ${declared}, config: {}, ${create} });`,
      says: "is not assignable to type",
    })),
  ),
  {
    name: "create without types, as in checked JavaScript, has the type of its configuration",
    code: sink('config: { x: { doc: "X.", format: "text" } }, create: ({ x }) => (x.length > 0 ? made : made)'),
  },
  {
    name: "the body of an event is unknown until it is asked for",
    code: `import type { Event } from "deneb/sdk";
export const id = (event: Event): string => event.body.id;`,
    says: "'event.body' is of type 'unknown'.",
  },
  {
    name: "behind isEntityEvent the body has the members of an entity",
    code: `import type { Event } from "deneb/sdk";
import { isEntityEvent } from "deneb/ngsi";
export const id = (event: Event): string => (isEntityEvent(event) ? event.body.id : "");`,
  },
  {
    name: "entityOf is the entity",
    code: `import type { Event } from "deneb/sdk";
import { type Attribute, entityOf } from "deneb/ngsi";
export const attributes = (event: Event): readonly Attribute[] => entityOf(event).attributes;`,
  },
];

const said = await compiled();

for (const [index, { name, says }] of snippets.entries())
  test(name, () => {
    const errors = said.get(fileOf(index)) ?? [];

    if (says === undefined) assert.deepEqual(errors, []);
    else
      assert.ok(
        errors.some((error) => error.includes(says)),
        `the compiler says: ${errors.join("\n")}`,
      );
  });

function fileOf(index: number): string {
  return `snippet-${index}.ts`;
}

/** What the compiler says about each snippet, by its file. */
async function compiled(): Promise<ReadonlyMap<string, readonly string[]>> {
  const folder = await mkdtemp(path.join(tmpdir(), "deneb-types-"));
  try {
    await writeFiles(folder, {
      "package.json": '{ "type": "module" }',
      "tsconfig.json": JSON.stringify({ compilerOptions, include: ["*.ts"] }),
      ...Object.fromEntries(snippets.map(({ code }, index) => [fileOf(index), code])),
    });
    await install(folder);
    return grouped(await compilerOutput(folder));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function compilerOutput(folder: string): Promise<string> {
  const tsc = path.join(folder, "node_modules/typescript/bin/tsc");
  return new Promise((resolve) => {
    execFile(process.execPath, [tsc, "--pretty", "false"], { cwd: folder }, (_error, stdout) => resolve(stdout));
  });
}

/** The messages, each with the lines that explain it, by the file at their beginning. */
function grouped(output: string): ReadonlyMap<string, readonly string[]> {
  const byFile = new Map<string, string[]>();
  for (const message of output.split(/^(?=\S)/m)) {
    const file = message.split("(", 1).join();
    byFile.set(file, [...(byFile.get(file) ?? []), message]);
  }
  return byFile;
}
