import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { command } from "../support/command.js";
import { httpAgent } from "../support/http-agent.js";
import { tempFolder } from "../support/temp-folder.js";
import { writeFiles } from "../support/written-files.js";

function plugin(type: string, more: string): string {
  return `export default {
    kind: "sink", type: "${type}", summary: "For tests.", stability: "beta", config: {}, create: () => ({}), ${more}
  };`;
}

const cases = [
  {
    what: "with a fault in its declaration",
    type: "late",
    file: plugin("late", 'stability: "good",'),
    says: /whose "stability" is not one of/,
  },
  {
    what: "for another version of the contract",
    type: "late",
    file: plugin("late", "apiVersion: 99,"),
    says: /, made for version 99|version 99/,
  },
  { what: "that cannot be parsed", type: "late", file: "export default {", says: /could not be loaded: / },
  {
    what: "that throws while it loads",
    type: "LATE",
    file: 'throw new Error("no key");',
    says: /could not be loaded: .*no key/,
  },
  { what: "that exports none", type: "late", file: "export const a = 1;", says: /has no plugin definition/ },
] as const;

for (const { what, type, file, says } of cases)
  test(`of a type whose plugin was left out, one ${what}, the check says so and why, and proposes no search`, async (context) => {
    const fault = await faultFor(context, type, { "late/index.js": file });

    assert.match(
      fault,
      new RegExp(`a\\.sinks\\.k\\.type = "${type}": is the type of a plugin that was left out; plugin ".*late`),
    );
    assert.match(fault, says);
    assert.ok(!fault.includes("plugins search"));
  });

test("a package that is not installed and has the type in its name is named", async (context) => {
  const fault = await faultFor(context, "late", {}, ["--plugin-packages", "deneb-plugin-late"]);

  assert.match(
    fault,
    /left out; plugin "deneb-plugin-late": is not installed: .*; run npm install deneb-plugin-late there$/,
  );
});

test("a type that no plugin has is still searched for, whatever else was left out", async (context) => {
  const fault = await faultFor(context, "other", { "late/index.js": "export default {" });

  assert.match(fault, /is no known type of sink; .*"deneb plugins search other" finds packages of others/);
});

test("a plugin that was left out as another kind does not explain the type", async (context) => {
  const source = plugin("late", 'stability: "good",').replace('kind: "sink"', 'kind: "source"');

  assert.match(await faultFor(context, "late", { "other/index.js": source }), /is no known type of sink/);
});

/** What the check says of the type of the sink. */
async function faultFor(
  context: TestContext,
  type: string,
  files: Readonly<Record<string, string>>,
  more: readonly string[] = [],
): Promise<string> {
  const folder = await tempFolder(context);
  await writeFiles(folder, { "strangers/package.json": '{ "type": "module" }' });
  await writeFiles(path.join(folder, "strangers"), files);
  const config = path.join(folder, "agent.properties");
  await writeFile(config, httpAgent({ channel: "memory", sink: type }));
  const flags = ["--config", config, "--plugins", path.join(folder, "strangers"), ...more];
  const { exitCode, err } = await command(["check", ...flags]);
  assert.equal(exitCode, 2);
  return err.split("\n").find((line) => line.includes("a.sinks.k.type")) ?? "";
}
