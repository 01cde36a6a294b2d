import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { startAgent } from "../support/agent-process.js";
import { httpAgent } from "../support/http-agent.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";
import { writeFiles } from "../support/written-files.js";

const plugin = `export default {
  kind: "interceptor", type: "lone", summary: "Removes listeners.", stability: "beta", config: {},
  create: () => {
    process.removeAllListeners();
    process.removeAllListeners("SIGTERM");
    return { intercept: (event) => event };
  },
};`;
const lines = ["a.sources.http-source.interceptors = i", "a.sources.http-source.interceptors.i.type = lone"];

test("an agent whose plugin removes all listeners of the process is reloaded and stopped in order by signals", async (context) => {
  const folder = await tempFolder(context);
  await writeFiles(folder, { "plugins/package.json": '{ "type": "module" }', "plugins/lone/index.js": plugin });
  const properties = httpAgent({ channel: "memory", sink: "logger", lines });
  const agent = await startAgent(context, { properties, folder, flags: ["--plugins", path.join(folder, "plugins")] });

  agent.process.kill("SIGHUP");
  await until(
    async () => agent.lines.map(({ component }) => component),
    (components) => components.includes("reload"),
  );
  const code = await agent.end("SIGTERM");

  assert.equal(code, 0);
  assert.ok(agent.lines.some(({ msg }) => msg === "agent stopped"));
});
