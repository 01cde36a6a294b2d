import { functionName, typeName } from "./spellings.js";

/** index.ts: declares and does nothing else. */
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

/** What the format of a property cannot judge. */
export function check${typeName(name)}({ file }: ${typeName(name)}Config): readonly PropertyFault<typeof ${functionName(name)}Schema>[] {
  return file.endsWith("/") ? [{ property: "file", reason: "must be the path of a file, not of a folder" }] : [];
}
`;
}

/** The file that does the work. */
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

/** All of the lines or none: what was written before a failure is cut off again. */
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
