import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { startAgent } from "../support/agent-process.js";
import { httpAgent } from "../support/http-agent.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";
import { writeFiles } from "../support/written-files.js";
import { notification, post } from "./notification.js";

const page = new URL("../../../docs/plugins/publishing.md", import.meta.url);

/** The flags of the page, with this folder in place of its data directory. */
function flagsFor(folder: string): string {
  const [, flags = ""] = /^node (--permission .*?)\\?\n/m.exec(readFileSync(page, "utf8")) ?? [];
  const known = process.allowedNodeEnvironmentFlags;
  // Node 20 has the model under another name; since Node 25 it limits connections, too.
  const model = known.has("--permission") ? "--permission" : "--experimental-permission";
  const all = `${flags} ${known.has("--allow-net") ? "--allow-net" : ""}`;
  return all.replace("--permission", model).replace("/var/lib/deneb", folder).replaceAll("'", "");
}

/** Writes beside the folder when it is created. */
const curious = (file: string) => `
  import { writeFileSync } from "node:fs";
  import { definePlugin } from "deneb/sdk";
  export default definePlugin({
    kind: "interceptor", type: "curious", summary: "For tests.", stability: "beta", config: {},
    create: () => {
      try { writeFileSync(${JSON.stringify(file)}, "x"); } catch {}
      return { intercept: (event) => event };
    },
  });`;

const skip =
  Number(process.versions.node.split(".")[0]) >= 26 ? "Node 26 forbids fsync under its permission model" : false;

test("with the flags of the page an agent stores rows in SQLite, and its plugin writes nothing elsewhere", {
  skip,
}, async (context) => {
  const folder = await tempFolder(context);
  const elsewhere = path.join(await tempFolder(context), "written");
  await writeFiles(folder, {
    "plugins/package.json": '{ "type": "module" }',
    "plugins/curious/index.js": curious(elsewhere),
  });
  const properties = httpAgent({
    channel: "file",
    sink: "rdb",
    lines: [
      "a.sources.http-source.interceptors = i",
      "a.sources.http-source.interceptors.i.type = curious",
      "a.sinks.k.rdb_dialect = sqlite",
    ],
  });
  const env = { NODE_OPTIONS: flagsFor(folder) };
  const agent = await startAgent(context, {
    properties,
    folder,
    env,
    flags: ["--plugins", path.join(folder, "plugins")],
  });

  assert.equal(await post(agent.notifyUrl, notification("urn:e:1", 1)), 200);
  const stored = await until(
    async () => (await fetch(`${agent.managementUrl}/metrics`)).text(),
    (text) => /^deneb_ledger_events_total\{channel="c",outcome="stored"\} 1$/m.test(text),
  );

  assert.match(stored, /deneb_ledger_events_total/);
  assert.equal(existsSync(elsewhere), false);
  assert.equal(await agent.end("SIGTERM"), 0);
});
