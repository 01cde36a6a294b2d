import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { lockFolder } from "../../core/files/folder-lock.js";
import { httpAgent } from "../support/http-agent.js";
import { recordingLog } from "../support/recording-log.js";
import { runCli } from "../support/run-cli.js";
import { tempFolder } from "../support/temp-folder.js";

/** An agent "a". */
const properties = httpAgent({ channel: "memory", sink: "logger" });

async function folderOfAgent(context: TestContext): Promise<readonly string[]> {
  const folder = await tempFolder(context);
  const file = path.join(folder, "agent.properties");
  await writeFile(file, properties);
  return ["--config", file, "--data-dir", folder];
}

/** What an agent of another name answers; the calls that it gets. */
async function agentOfCity(
  context: TestContext,
): Promise<{ readonly port: string; readonly calls: readonly string[] }> {
  const calls: string[] = [];
  const server = createServer((request, response) => {
    calls.push(`${request.method} ${request.url}`);
    response.end(JSON.stringify({ success: "true", agent: "city" }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  context.after(() => server.close());
  const address = server.address();
  return { port: String(typeof address === "object" ? address?.port : undefined), calls };
}

for (const words of [["verify"], ["erase", "--entity", "urn:a", "--yes"]])
  test(`deneb ${words[0]} says that the agent which answers is not that of the file, and asks it for nothing else`, async (context) => {
    const where = await folderOfAgent(context);
    const { port, calls } = await agentOfCity(context);

    const { code, stdout, stderr } = await runCli([...words, ...where, "--management-port", port]);

    assert.equal(code, 2, stdout);
    assert.deepEqual(calls, ["GET /v1/access"]);
    const [, file] = where;
    assert.equal(
      stderr,
      `error: agent "city" answers at 127.0.0.1:${port}, and the agent of "${file}" is "a"; ` +
        "give the address of that one with --management-host and --management-port, also when it is stopped\n",
    );
  });

test("deneb verify says which address it asked where the agent runs and does not answer there", async (context) => {
  const where = await folderOfAgent(context);
  const lock = await lockFolder(where[3] ?? "", {}, { seconds: 0, log: recordingLog().log });
  context.after(() => lock.release());

  const { code, stderr } = await runCli(["verify", ...where, "--management-port", "1"], { DENEB_LOCK_WAIT: "0" });

  assert.equal(code, 2);
  assert.match(
    stderr,
    /error: folder .* is in use .*; stop that one, or give the address of its management interface\n/,
  );
  assert.match(
    stderr,
    /\nerror: no agent answers at 127\.0\.0\.1:1; start it, or give its address with --management-host/,
  );
});
