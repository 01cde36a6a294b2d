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

const replay = ["dead-letters", "replay", "--all"];
const commands = [
  ["verify"],
  ["erase", "--entity", "urn:a", "--yes"],
  ["dead-letters", "list"],
  ["dead-letters", "show", "1"],
  replay,
  ["dead-letters", "drop", "1"],
] as const;

for (const words of commands)
  test(`deneb ${words.join(" ")} says that the agent which answers is not that of the file, and asks it for nothing else`, async (context) => {
    const where = await folderOfAgent(context);
    const { port, calls } = await agentOfCity(context);

    // Those that change dead letters take no directory.
    const given = words[0] === "dead-letters" ? where.slice(0, 2) : where;
    const { code, stdout, stderr } = await runCli([...words, ...given, "--management-port", port]);

    assert.equal(code, 2, stdout);
    assert.deepEqual(calls, ["GET /v1/access"]);
    const [, file] = where;
    assert.equal(
      stderr,
      `error: agent "city" answers at 127.0.0.1:${port}, and the agent of "${file}" is "a"; ` +
        "give the address of that one with --management-host and --management-port, also when it is stopped\n",
    );
  });

const faults = [
  { file: undefined, name: [], says: /--config = ".*could not be read.*give an existing properties file/ },
  { file: "# nothing\n", name: [], says: /holds no sources, channels or sinks of an agent/ },
  { file: properties, name: ["--name", "b"], says: /--name "b" is not in ".*", which holds a/ },
] as const;

for (const { file, name, says } of faults)
  for (const words of [["verify"], ["dead-letters", "list"], replay])
    test(`deneb ${words.join(" ")} asks no agent with a file that names none: ${says.source}`, async (context) => {
      const folder = await tempFolder(context);
      const config = path.join(folder, "agent.properties");
      if (file !== undefined) await writeFile(config, file);
      const { port, calls } = await agentOfCity(context);

      const asked = await runCli([...words, "--config", config, ...name, "--management-port", port]);

      assert.equal(asked.code, 2, asked.stdout);
      assert.match(asked.stderr, says);
      assert.deepEqual(calls, []);
    });

test("deneb dead-letters list reads the directory of an agent that is stopped with its file, too", async (context) => {
  const where = await folderOfAgent(context);

  const listed = await runCli(["dead-letters", "list", ...where]);
  const other = await runCli(["dead-letters", "list", ...where, "--name", "b"]);

  assert.deepEqual([listed.code, listed.stdout], [0, "no dead letters\n"]);
  assert.deepEqual([other.code, other.stdout], [2, ""]);
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
