/** index.ts: the declaration. */
export function indexText(name: string): string {
  return `import { definePlugin } from "deneb/sdk";
import { check${typeName(name)}, ${functionName(name)}Schema } from "./config.js";
import { ${functionName(name)} } from "./${name}.js";

export default definePlugin({
  apiVersion: 1,
  kind: "sink",
  type: "${name}",
  summary: "Appends each event as a line of JSON to a file.",
  stability: "beta",
  config: ${functionName(name)}Schema,
  check: check${typeName(name)},
  create: ${functionName(name)},
});
`;
}

/** config.ts: the schema. */
export function configText(name: string): string {
  return `import type { ConfigOf, PropertyFault, Schema } from "deneb/sdk";

export const ${functionName(name)}Schema = {
  file: { doc: "File that gets the lines. Its folder must exist.", format: "text" },
} as const satisfies Schema;

export type ${typeName(name)}Config = ConfigOf<typeof ${functionName(name)}Schema>;

/** What the format of a property cannot check. */
export function check${typeName(name)}({ file }: ${typeName(name)}Config): readonly PropertyFault<typeof ${functionName(name)}Schema>[] {
  return file.endsWith("/") ? [{ property: "file", reason: "must be the path of a file, not of a folder" }] : [];
}
`;
}

/** <name>.ts: the sink itself. */
export function sinkText(name: string): string {
  return `import { type FileHandle, open } from "node:fs/promises";
import { batchSink, type Event, type Receipt, type Sink } from "deneb/sdk";
import type { ${typeName(name)}Config } from "./config.js";

/** Appends each event as a line of JSON. */
export function ${functionName(name)}({ file }: ${typeName(name)}Config): Sink {
  return batchSink<FileHandle>({
    open: () => open(file, "a"),
    write: append,
    close: (handle) => handle.close(),
  });
}

/** Writes all lines or none: after a failure the file is truncated to its former size. */
async function append(handle: FileHandle, events: readonly Event[]): Promise<Receipt> {
  const text = events.map((event) => \`\${JSON.stringify(event)}\\n\`).join("");
  const { size } = await handle.stat();
  try {
    await handle.appendFile(text);
  } catch (error) {
    await handle.truncate(size);
    throw error;
  }
  return { requestBytes: Buffer.byteLength(text), responseBytes: 0 };
}
`;
}

/** conformance.ts: what the conformance suites need to know about the plugin. */
export function conformanceText(): string {
  return `import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { markOf, type PluginSetup } from "deneb/sdk/testing";

/** How the conformance suites test this plugin; \`deneb plugin test\` reads it, too. */
export const setup: PluginSetup = {
  config: (folder) => ({ file: join(folder, "lines.jsonl") }),
  async openStore(folder) {
    const file = join(folder, "lines.jsonl");
    return {
      config: { file },
      readBack: async () => (await linesOf(file)).map((line) => markOf(JSON.parse(line))),
      unreachable: { file: join(folder, "no-such-folder", "lines.jsonl") },
      close: async () => {},
    };
  },
};

async function linesOf(file: string): Promise<readonly string[]> {
  return (await readFile(file, "utf8")).split("\\n").filter((line) => line !== "");
}
`;
}

/** conformance.test.ts: runs the suites with the test runner of Node. */
export function conformanceTestText(): string {
  return `import { test } from "node:test";
import { pluginConformance } from "deneb/sdk/testing";
import { setup } from "./conformance.js";
import plugin from "./index.js";

for (const { name, run } of await pluginConformance(plugin, setup)) test(name, run);
`;
}

/** `my-sink` as the name of a function: `mySink`. */
function functionName(name: string): string {
  return name.replaceAll(/-+([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** `my-sink` as the name of a type: `MySink`. */
function typeName(name: string): string {
  const spelt = functionName(name);
  return `${spelt.charAt(0).toUpperCase()}${spelt.slice(1)}`;
}
