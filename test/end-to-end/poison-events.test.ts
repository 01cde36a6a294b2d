import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { startAgent } from "../support/agent-process.js";
import { httpAgent } from "../support/http-agent.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";
import { writeFiles } from "../support/written-files.js";
import { notification, post } from "./notification.js";

const main = fileURLToPath(new URL("../../core/main.js", import.meta.url));

const ends = {
  "ends the process": "process.exit(7);",
  "throws what names no plugin": 'process.nextTick(() => { throw "outside"; }); await new Promise(() => {});',
  "never ends": "for (;;);",
  "takes all memory": "const all = []; for (;;) all.push(new Array(1000).fill(all.length));",
} as const;

/** Stores each id once in a file; takes nothing before the file `go` is there. */
const sink = (end: string) => `
  import { appendFileSync, existsSync, readFileSync } from "node:fs";
  import { definePlugin } from "deneb/sdk";
  export default definePlugin({
    kind: "sink", type: "fragile", summary: "For tests.", stability: "beta",
    config: { file: { doc: "A file.", format: "text" } },
    create: ({ file }) => ({
      start: async () => {},
      stop: async () => {},
      persist: async ({ events }) => {
        if (!existsSync(file + ".go")) throw Object.assign(new Error("not yet"), { retryable: true });
        const ids = events.map(({ body }) => body.id);
        if (ids.includes("urn:e:poison")) { appendFileSync(file + ".met", "x"); ${end} }
        const stored = existsSync(file) ? readFileSync(file, "utf8").split("\\n") : [];
        appendFileSync(file, ids.filter((id) => !stored.includes(id)).map((id) => id + "\\n").join(""));
        return { requestBytes: 0, responseBytes: 0 };
      },
    }),
  });`;

const properties = (file: string) =>
  httpAgent({
    channel: "file",
    sink: "fragile",
    lines: [
      `a.sinks.k.file = ${file}`,
      "a.sinks.k.batch_size = 3",
      "a.sinks.k.batch_timeout = 5",
      "a.sinks.k.batch_retry_intervals = 100",
    ],
  });

const textOf = (file: string) => (existsSync(file) ? readFileSync(file, "utf8") : "");

for (const [what, end] of Object.entries(ends))
  test(`an event whose sink ${what} is a dead letter after the third death, and all others are stored once`, async (context) => {
    const folder = await tempFolder(context);
    const file = path.join(folder, "stored.txt");
    const plugins = path.join(folder, "plugins");
    await writeFiles(plugins, { "package.json": '{ "type": "module" }', "fragile/index.js": sink(end) });
    const flags = ["--plugins", plugins];
    const agent = await startAgent(context, { properties: properties(file), folder, flags, env: smallHeap });
    for (const id of ["urn:e:1", "urn:e:poison", "urn:e:2"]) await post(agent.notifyUrl, notification(id, 1));
    const died = once(agent.process, "exit");
    await writeFiles(folder, { "stored.txt.go": "" });
    await dies(agent.process, file, 1, died);

    let starts = 1;
    for (; starts <= 4 && !(await survives(context, { folder, file, flags, starts })); starts += 1);

    assert.ok(starts <= 3, `${starts} starts after the first`);
    assert.deepEqual(textOf(file).trim().split("\n").sort(), ["urn:e:1", "urn:e:2"]);
    const letters = textOf(lettersOf(folder)).trim().split("\n");
    assert.equal(letters.length, 1);
    assert.match(letters[0] ?? "", /"reason":"crashed-the-agent","code":"CRASHED_THE_AGENT".*urn:e:poison/);
  });

const smallHeap = { NODE_OPTIONS: "--max-old-space-size=200" };

interface Restart {
  readonly folder: string;
  readonly file: string;
  readonly flags: readonly string[];
  readonly starts: number;
}

/** Starts the agent again; true when it stored all it can, false when it died. */
async function survives(context: TestContext, { folder, file, flags, starts }: Restart): Promise<boolean> {
  const words = ["--config", path.join(folder, "agent.properties"), "--data-dir", path.join(folder, "data"), ...flags];
  const child = spawn(process.execPath, [main, "run", ...words, "--management-port", "0"], {
    env: { ...process.env, ...smallHeap },
    stdio: "ignore",
  });
  context.after(() => child.kill("SIGKILL"));
  const died = once(child, "exit");
  const stored = until(
    async () => textOf(file).includes("urn:e:2") && textOf(lettersOf(folder)) !== "",
    (done) => done || hasEnded(child),
  );
  const dead = dies(child, file, starts + 1, died).then(() => false);
  if (!(await Promise.race([dead, stored]))) return false;
  child.kill("SIGTERM");
  await dead;
  return true;
}

/** Waits until the process met the poison so many times and ended, or stands still and is killed. */
async function dies(child: ChildProcess, file: string, times: number, died: Promise<unknown>): Promise<void> {
  const inHand = path.join(path.dirname(file), "data", "in-hand");
  const state = times === 1 ? "handed-over" : "stuck";
  await until(
    async () => textOf(`${file}.met`).length >= times && textOf(inHand).startsWith(state),
    (stands) => stands || hasEnded(child),
  );
  child.kill("SIGKILL");
  await died;
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

const lettersOf = (folder: string) => path.join(folder, "data", "dead-letters", "k.ndjson");
