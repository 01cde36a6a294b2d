import { declarationText, type KindTexts, type NamedTexts, schemaText } from "./kind-texts.js";

/** A source that reads a folder of files. */
export const sourceTexts: KindTexts = (names): NamedTexts => {
  const { typeId, type, file } = names;
  return {
    does: "receives each file `*.json` of a folder as a notification.",
    example: [
      `agent.sources.${type}.type = ${type}`,
      `agent.sources.${type}.channels = test-channel`,
      `agent.sources.${type}.folder = incoming`,
      `agent.sources.${type}.handler = ngsi`,
    ],
    guarantees: [
      "Files are received in the order of their names, and removed once the channels have their events.",
      "While a channel has no room a file stays and is received again; after a crash it may be received twice.",
      "A file that is refused for another reason is renamed to `*.json.refused`.",
      "Whoever writes a file gives it its name only when it is complete, by renaming it.",
    ],
    sources: {
      index: declarationText(names, {
        kind: "source",
        summary: "Receives each file of a folder as a notification.",
        before: ['slots: { handler: "handler" },'],
        create: `(config, context) => new ${typeId}(config, context)`,
      }),
      config: schemaText(names, [
        'folder: { doc: "Folder of the files; it must exist.", format: "text", resource: "folder" },',
        'interval: { doc: "Milliseconds between two looks at the folder.", format: "millis", default: 500, min: 10 },',
      ]),
      [file]: `import { readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { reasonOf«, type Source, type SourceContext» } from "deneb/sdk";
«import type { ${typeId}Config } from "./config.js";
»
/** Receives each file of a folder as a notification. */
export class ${typeId}« implements Source» {
  «readonly »#config«: ${typeId}Config»;
  «readonly »#context«: SourceContext<unknown>»;
  #stopping = new AbortController();
  #loop = Promise.resolve();

  constructor(config«: ${typeId}Config», context«: SourceContext<unknown>») {
    this.#config = config;
    this.#context = context;
  }

  async start()«: Promise<void>» {
    this.#stopping = new AbortController();
    this.#loop = this.#run(this.#stopping.signal);
  }

  async stop()«: Promise<void>» {
    this.#stopping.abort();
    await this.#loop;
  }

  async #run(signal«: AbortSignal»)«: Promise<void>» {
    const { interval, folder } = this.#config;
    const { report, log } = this.#context;
    while (!signal.aborted) {
      try {
        await this.#receiveAll(signal);
        report?.({ state: "up" });
      } catch (error) {
        log.warn({ folder, reason: reasonOf(error) }, "folder not read");
        report?.({ state: "down", reason: \`the folder cannot be read: \${reasonOf(error)}\` });
      }
      await setTimeout(interval, undefined, { signal }).catch(() => undefined);
    }
  }

  async #receiveAll(signal«: AbortSignal»)«: Promise<void>» {
    const { folder } = this.#config;
    const files = (await readdir(folder)).filter((name) => name.endsWith(".json")).sort();
    for (const name of files) {
      if (signal.aborted || !(await this.#receive(join(folder, name)))) return;
    }
  }

  /** False when the file has to be received again, before those that follow it. */
  async #receive(file«: string»)«: Promise<boolean>» {
    const { receive, now } = this.#context;
    const request = { method: "POST", path: "/notify", headers: { "content-type": "application/json" } };
    const body = await readFile(file);
    const outcome = await receive({ ...request, body, receivedAt: now() }, ({ retryable }) =>
      retryable === true ? undefined : 0,
    );
    if (outcome.accepted) await rm(file);
    else if (outcome.retryable === true) return false;
    else await rename(file, \`\${file}.refused\`);
    return true;
  }
}
`,
      conformance: `import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
«import type { PluginSetup } from "deneb/sdk/testing";
»
/** How the conformance suites test this plugin; \`deneb plugin test\` reads it, too. */
export const setup«: PluginSetup» = {
  config: (folder) => ({ folder }),
  async openInlet(folder) {
    let sent = 0;
    return {
      config: { folder, interval: 10 },
      async send(text) {
        sent += 1;
        const file = join(folder, \`\${String(sent).padStart(6, "0")}.json\`);
        await writeFile(\`\${file}.new\`, text);
        await rename(\`\${file}.new\`, file);
        return true;
      },
      close: async () => {},
    };
  },
};
`,
    },
    agentTest: `import assert from "node:assert/strict";
import { mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { sampleNotifications, testAgent } from "deneb/sdk/testing";
import plugin from "./index.js";

test("a file is received once and removed, one that is no notification is set aside", async (context) => {
  const folder = await mkdtemp(join(tmpdir(), "${type}-"));
  context.after(() => rm(folder, { recursive: true }));
  const agent = await testAgent({
    plugins: [plugin],
    config: { sources: { mine: { type: "${type}", folder, interval: 10, handler: "ngsi" } } },
  });
  context.after(() => agent.stop());

  for (const [name, text] of Object.entries({ "1": "no notification", "2": sampleNotifications.ld.body })) {
    await writeFile(join(folder, name), text);
    await rename(join(folder, name), join(folder, \`\${name}.json\`));
  }
  for (let looks = 0; looks < 1000 && agent.kept().length < 2; looks++) await setTimeout(10);
  await agent.stop();

  assert.equal(agent.kept().length, 2);
  assert.deepEqual(await readdir(folder), ["1.json.refused"]);
});
`,
  };
};
