import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, readFile, utimes } from "node:fs/promises";
import path from "node:path";
import { after, type TestContext, test } from "node:test";
import { startAgent } from "../support/agent-process.js";
import { builtExample, npm } from "../support/example-package.js";
import { httpAgent } from "../support/http-agent.js";
import { main, runCli, runHere } from "../support/run-cli.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";
import { writeFiles } from "../support/written-files.js";

const built = await builtExample("event-lines");
after(built.remove);

test("the example's own npm test passes as written, and plugin test agrees", async () => {
  const own = await npm(built.folder, "test");
  const kit = await runHere(["plugin", "test", built.folder]);

  assert.equal(own.code, 0, own.output);
  assert.match(own.output, /fail 0/);
  assert.equal(kit.code, 0, kit.stdout);
  assert.match(kit.stdout, /^sink event-lines: \d\d passed, 0 failed$/m);
});

test("plugin test names the rules that a plugin breaks, and fails", async (context) => {
  const folder = await tempFolder(context);
  await cp(path.join(built.folder, "dist"), folder, { recursive: true });
  const sink = path.join(folder, "event-lines.js");
  const text = await readFile(sink, "utf8");
  await writeFiles(folder, {
    "package.json": '{ "type": "module" }',
    "event-lines.js": text.replace("JSON.stringify(event)", "JSON.stringify(event).toLowerCase()"),
  });

  const { code, stdout } = await runHere(["plugin", "test", folder]);

  assert.equal(code, 1);
  assert.match(stdout, /^not ok a format directive in a value comes back unchanged: /m);
});

/** What was built of the example, with a change. */
async function changedExample(context: TestContext, from: string | RegExp, to: string): Promise<string> {
  const folder = await tempFolder(context);
  await cp(path.join(built.folder, "dist"), folder, { recursive: true });
  const text = await readFile(path.join(folder, "event-lines.js"), "utf8");
  assert.notEqual(text.replace(from, to), text);
  await writeFiles(folder, {
    "package.json": '{ "type": "module" }',
    "event-lines.js": text.replace(from, to),
  });
  return folder;
}

test("plugin test names what a plugin threw, with its cause and its place", async (context) => {
  const thrown = 'throw new Error("writing lines", { cause: new Error("the disk is full") }); const text = events';
  const folder = await changedExample(context, "const text = events", thrown);

  const { code, stdout } = await runHere(["plugin", "test", folder]);

  assert.equal(code, 1);
  assert.match(stdout, /^not ok an empty batch is stored: writing to the store: writing lines: the disk is full$/m);
  assert.match(stdout, /^ {2}at .*append.* \(file:.*event-lines\.js:\d+:\d+\)$/m);
});

test("plugin test says that a sink changes its events", async (context) => {
  const change = 'for (const event of events) event.headers["fiware-service"] = "x";\nconst text = events';
  const folder = await changedExample(context, "const text = events", change);

  const { code, stdout } = await runHere(["plugin", "test", folder]);

  assert.equal(code, 1);
  assert.match(stdout, /^not ok a batch is left unchanged.*: the sink changes its batch; .*make a copy/m);
});

test("plugin test prints the name of a case before it runs, and fails one that never ends", async (context) => {
  const folder = await changedExample(
    context,
    "const text = events",
    "await new Promise(() => {}); const text = events",
  );
  await writeFiles(folder, { "conformance.js": 'export const setup = { config: () => ({ file: "f" }) };' });
  const hanging = "start and stop leave no timer, socket or thread behind";
  const index = path.join(folder, "index.js");
  const text = await readFile(index, "utf8");
  await writeFiles(folder, { "index.js": text.replace("create: eventLines", hangingStart) });

  const { code, stdout } = await runCli(["plugin", "test", folder, "--case-seconds", "1"]);

  assert.equal(code, 1);
  assert.match(stdout, new RegExp(`^run ${hanging}\nnot ok ${hanging}: the case did not end within 1 s`, "m"));
  assert.match(stdout, /passed, [123] failed$/m);
});

const hangingStart =
  "create: () => ({ start: () => new Promise(() => {}), stop: async () => {}, persist: async () => {} })";

for (const { says, body } of [
  { says: "waits", body: "await new Promise(() => {})" },
  { says: "blocks the process", body: "for (;;) {}" },
])
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    test(`plugin test of a plugin that ${says} ends at the first ${signal}`, async (context) => {
      const folder = await changedExample(context, "const text = events", `${body}; const text = events`);
      const child = spawn(process.execPath, [main, "plugin", "test", folder], { stdio: ["ignore", "pipe", "ignore"] });
      context.after(() => child.kill("SIGKILL"));
      let output = "";
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        output += text;
      });
      await until(
        async () => output,
        (text) => text.includes("run every event of a batch is stored"),
      );
      const exited = once(child, "exit");

      child.kill(signal);

      assert.deepEqual(await exited, [null, signal]);
    });

test("plugin test checks the types first, and runs no case when they are wrong", async (context) => {
  const { folder, remove } = await builtExample("event-lines");
  context.after(remove);
  const right = await runHere(["plugin", "test", folder]);
  await writeFiles(folder, { "wrong.ts": 'export const port: number = "5050";\n' });

  const wrong = await runHere(["plugin", "test", folder]);

  assert.match(right.stdout, /^run types: tsc --noEmit --project .*tsconfig\.json\nok types\n/);
  assert.equal(right.code, 0, right.stdout);
  assert.equal(wrong.code, 1);
  assert.match(wrong.stdout, /^not ok types: .*\n {2}wrong\.ts.*TS2322/m);
  assert.doesNotMatch(wrong.stdout, /^ok /m);
});

for (const { changed, says } of [
  { changed: "before", says: false },
  { changed: "after", says: true },
])
  test(`plugin test ${says ? "says" : "does not say"} that older code is tested when a source was changed ${changed} the build`, async (context) => {
    const folder = await tempFolder(context);
    await cp(path.join(built.folder, "dist"), path.join(folder, "dist"), { recursive: true });
    await writeFiles(folder, {
      "package.json": '{ "type": "module", "keywords": ["deneb-plugin"], "exports": "./dist/index.js" }',
      "event-lines.ts": "",
    });
    const source = path.join(folder, "event-lines.ts");
    const years = says ? 1 : -1;
    const time = Date.now() / 1000 + years * 31_536_000;
    await utimes(source, time, time);

    const { code, stderr } = await runHere(["plugin", "test", folder]);

    assert.equal(code, 0);
    assert.equal(stderr.includes(`"${source}" was changed after `), says);
  });

test("plugin test of a folder without a plugin fails with the remedy", async (context) => {
  const { code, stderr } = await runHere(["plugin", "test", await tempFolder(context)]);

  assert.equal(code, 1);
  assert.match(stderr, /holds no plugin: build it first/);
});

const ways = [
  { says: "by folder", place: "plugins/event-lines", variable: "DENEB_PLUGINS", value: "plugins" },
  { says: "as an npm package", place: "node_modules/event-lines", variable: "DENEB_PLUGIN_PACKAGES", value: "" },
] as const;
for (const { says, place, variable, value } of ways)
  test(`an agent loads the example ${says}, without an installed deneb, and stores a notification`, async (context) => {
    const folder = await tempFolder(context);
    for (const part of ["dist", "package.json"]) {
      await cp(path.join(built.folder, part), path.join(folder, place, part), { recursive: true });
    }
    const lines = path.join(folder, "lines.jsonl");
    const env = { [variable]: value === "" ? "event-lines" : path.join(folder, value) };
    await notifyAgent(context, { folder, env, lines });

    const stored: unknown[] = (await readFile(lines, "utf8")).trim().split("\n").map(idOf);
    assert.deepEqual(stored, ["urn:ngsi-ld:Room:1"]);
  });

interface Notified {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly lines: string;
}

async function notifyAgent(context: TestContext, { folder, env, lines }: Notified): Promise<void> {
  const properties = httpAgent({ channel: "memory", sink: "event-lines", lines: [`a.sinks.k.file = ${lines}`] });
  const agent = await startAgent(context, { properties, folder, env });
  const data = [{ id: "urn:ngsi-ld:Room:1", type: "Room", temperature: { type: "Property", value: 21.5 } }];
  const answer = await fetch(agent.notifyUrl, {
    method: "POST",
    headers: { "Content-Type": "application/ld+json", "Fiware-Service": "openiot" },
    body: JSON.stringify({ id: "urn:ngsi-ld:Notification:1", type: "Notification", data }),
  });
  assert.equal(answer.status, 200);
  assert.equal(await agent.end("SIGTERM"), 0);
}

function idOf(line: string): unknown {
  return Reflect.get(Object(Reflect.get(Object(JSON.parse(line)), "body")), "id");
}
