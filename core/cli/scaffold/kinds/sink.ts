import { declarationText, type KindTexts, type NamedTexts } from "./kind-texts.js";

/** A sink that appends each event as a line of JSON to a file. */
export const sinkTexts: KindTexts = (names): NamedTexts => {
  const { id, typeId, type, file } = names;
  return {
    does: "appends each event as a line of JSON to a file.",
    example: [
      `agent.sinks.${type}.type = ${type}`,
      `agent.sinks.${type}.channel = test-channel`,
      `agent.sinks.${type}.file = lines.jsonl`,
    ],
    guarantees: [
      "Every event is written at least once, in the order of its channel.",
      "A batch is written as a whole or not at all; a power failure may lose lines that the system had not yet written.",
      "The file grows without limit.",
    ],
    sources: {
      index: declarationText(names, {
        kind: "sink",
        summary: "Appends each event as a line of JSON to a file.",
        checked: true,
        create: id,
      }),
      config: `«import type { ConfigOf, PropertyFault, Schema } from "deneb/sdk";

»export const ${id}Schema = {
  file: { doc: "File that gets the lines. Its folder must exist.", format: "text" },
}« as const satisfies Schema»;
«
export type ${typeId}Config = ConfigOf<typeof ${id}Schema>;
»
/** What the format of a property cannot check. */
export function check${typeId}({ file }«: ${typeId}Config»)«: readonly PropertyFault<typeof ${id}Schema>[]» {
  return file.endsWith("/") ? [{ property: "file", reason: "must be the path of a file, not of a folder" }] : [];
}
`,
      [file]: `import { «type FileHandle, »open } from "node:fs/promises";
import { batchSink«, type Event, type Receipt, type Sink» } from "deneb/sdk";
«import type { ${typeId}Config } from "./config.js";
»
/** Appends each event as a line of JSON. */
export function ${id}({ file }«: ${typeId}Config»)«: Sink» {
  return batchSink«<FileHandle>»({
    open: () => open(file, "a"),
    write: append,
    close: (handle) => handle.close(),
  });
}

/** Writes all lines or none: after a failure the file is truncated to its former size. */
async function append(handle«: FileHandle», events«: readonly Event[]»)«: Promise<Receipt>» {
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
`,
      conformance: `import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { markOf«, type PluginSetup» } from "deneb/sdk/testing";

/** How the conformance suites test this plugin; \`deneb plugin test\` reads it, too. */
export const setup«: PluginSetup» = {
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

async function linesOf(file«: string»)«: Promise<readonly string[]>» {
  return (await readFile(file, "utf8")).split("\\n").filter((line) => line !== "");
}
`,
    },
    agentTest: `import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { sampleNotifications, testAgent } from "deneb/sdk/testing";
import plugin from "./index.js";

test("an agent stores each entity of a notification", async (context) => {
  const folder = await mkdtemp(join(tmpdir(), "${type}-"));
  context.after(() => rm(folder, { recursive: true }));
  const file = join(folder, "lines.jsonl");
  const agent = await testAgent({ plugins: [plugin], config: { sinks: { mine: { type: "${type}", file } } } });
  context.after(() => agent.stop());

  const { status } = await agent.inject(sampleNotifications.ld);
  await agent.settled();

  assert.equal(status, 200);
  assert.equal((await readFile(file, "utf8")).trim().split("\\n").length, 2);
  assert.deepEqual(await agent.deadLetters(), []);
});
`,
  };
};
