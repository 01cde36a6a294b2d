import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { createProgram } from "../../core/cli/program.js";
import { command } from "../support/command.js";
import { install } from "../support/example-package.js";
import { runHere } from "../support/run-cli.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";

const main = fileURLToPath(new URL("../../core/main.js", import.meta.url));

async function scaffold(context: TestContext, kind: string, language: "ts" | "js"): Promise<string> {
  const parent = await tempFolder(context);
  const { exitCode } = await command(["plugin", "new", kind, "mine", "--language", language, "--into", parent]);
  assert.equal(exitCode, 0);
  const folder = path.join(parent, "mine");
  await install(folder, "libsql");
  return folder;
}

/** Runs `deneb plugin dev` in a process of its own, and waits for what it prints. */
function startDev(context: TestContext, folder: string) {
  const child: ChildProcess = spawn(process.execPath, [main, "plugin", "dev", folder], { stdio: "pipe" });
  const exited = once(child, "close");
  context.after(() => child.kill("SIGKILL"));
  const lines: string[] = [];
  for (const output of [child.stdout, child.stderr]) {
    if (output !== null) createInterface({ input: output }).on("line", (line) => lines.push(line));
  }
  return watched(lines, async () => {
    child.kill("SIGINT");
    const [code] = await exited;
    return code;
  });
}

/** The same in this process; the agent has one of its own in any case. */
function devHere(context: TestContext, folder: string) {
  const lines: string[] = [];
  const stopping = new AbortController();
  const print = (line: string) => lines.push(line);
  const program = createProgram({ out: print, err: print, env: process.env, stopRequested: stopping.signal });
  const ended = program.run(["plugin", "dev", folder]);
  const end = () => {
    stopping.abort();
    return ended;
  };
  context.after(end);
  return watched(lines, end);
}

function watched(lines: readonly string[], end: () => Promise<number | null>) {
  return {
    lines,
    shows: (text: RegExp) =>
      until(
        async () => lines,
        (seen) => seen.some((line) => text.test(line)),
      ),
    end,
  };
}

const kinds = [
  { kind: "sink", shows: /^sink plugin stored [12] events? in \d+ ms$/ },
  { kind: "handler", shows: /^posted NGSI v2, one entity: 400 .*not id;name;number/ },
  { kind: "interceptor", shows: /^sink memory got .*Room3/ },
  { kind: "channel", shows: /^sink plugin got .*Room3/ },
  { kind: "selector", shows: /^sink (one|two) got .*Room3/ },
  { kind: "sink-processor", shows: /^sink (first|second) got .*Room3/ },
  { kind: "source", shows: /^nothing is posted: the plugin is the source/ },
] as const;

for (const { kind, shows } of kinds)
  test(`plugin dev runs a ${kind} in its place, and ends without a trace`, async (context) => {
    const dev = devHere(context, await scaffold(context, kind, "js"));

    await dev.shows(shows);

    assert.equal(await dev.end(), 0);
    await assert.rejects(stat(temporaryOf(dev.lines)));
  });

test("plugin dev says why a sink did not store, and where in the plugin", async (context) => {
  const folder = await scaffold(context, "sink", "js");
  const file = path.join(folder, "mine.js");
  const text = await readFile(file, "utf8");
  await writeFile(file, text.replace("const { size }", "handle.nothing();\n  const { size }"));
  const dev = devHere(context, folder);

  await dev.shows(
    /^sink plugin did not store \d events? in \d+ ms: writing to the store: handle\.nothing is not a function$/,
  );
  await dev.shows(/^ {2}at .*mine\.js:\d+:\d+/);

  assert.equal(await dev.end(), 0);
});

test("plugin dev ends at the first signal without a trace", async (context) => {
  const dev = startDev(context, await scaffold(context, "source", "js"));

  await dev.shows(/^nothing is posted/);

  assert.equal(await dev.end(), 0);
  await assert.rejects(stat(temporaryOf(dev.lines)));
});

function temporaryOf(lines: readonly string[]): string {
  return /files: (.*)$/.exec(lines.find((line) => line.startsWith("running ")) ?? "")?.[1] ?? "";
}

test("plugin dev builds TypeScript again when it changes, goes on after an error, and keeps its port", async (context) => {
  const folder = await scaffold(context, "sink", "ts");
  const file = path.join(folder, "mine.ts");
  const text = await readFile(file, "utf8");
  const dev = devHere(context, folder);
  await dev.shows(/^3 events in, 3 stored, 0 dead letters/);

  await writeFile(file, text.replace("const { size }", "const { sze }"));
  await dev.shows(/error TS\d+/);
  const refusing = 'throw new AgentError("NEVER", "this is never stored", { retryable: false });';
  const changed = text.replace("import { batchSink", "import { AgentError, batchSink");
  await writeFile(
    file,
    changed.replace("  const { size }", `  if (text.includes("Room3")) ${refusing}\n  const { size }`),
  );
  await dev.shows(/^dead letter of sink plugin \(permanent, NEVER\): this is never stored: .*Room3/);

  const addresses = dev.lines.flatMap((line) => /POST to (\S+)/.exec(line)?.[1] ?? []);
  assert.equal(await dev.end(), 0);
  assert.equal(addresses.length, 2);
  assert.equal(new Set(addresses).size, 1);
});

test("plugin dev replaces an agent that never answers again", async (context) => {
  const folder = await scaffold(context, "interceptor", "js");
  const file = path.join(folder, "mine.js");
  const text = await readFile(file, "utf8");
  await writeFile(file, text.replace("intercept(event) {", "intercept(event) {\n      for (;;) {}"));
  const dev = devHere(context, folder);
  await dev.shows(/^running interceptor/);

  await writeFile(file, text);
  await dev.shows(/^sink memory got .*Room3/);

  assert.equal(await dev.end(), 0);
});

const refused = [
  { args: ["/no/such/folder"], says: /is not a folder/ },
  { args: [".", "--set", "novalue"], says: /write it as key=value/ },
  { args: [".", "--port", "99999"], says: /a number from 0 to 65535/ },
  { args: [".", "--config", "a.properties", "--set", "a=b"], says: /write the property into the file/ },
] as const;

for (const { args, says } of refused)
  test(`plugin dev ${args.join(" ")} is refused with the remedy`, async () => {
    const { code, stderr } = await runHere(["plugin", "dev", ...args]);

    assert.equal(code, 2);
    assert.match(stderr, says);
  });
