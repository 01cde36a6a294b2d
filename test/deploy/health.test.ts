import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { Server } from "node:net";
import path from "node:path";
import test, { type TestContext } from "node:test";
import { certificate } from "../support/certificate.js";
import { freePort } from "../support/free-port.js";
import { repositoryRoot } from "../support/repository.js";
import { tempFolder } from "../support/temp-folder.js";

const program = path.join(repositoryRoot, "deploy", "container", "health.mjs");

const answering: RequestListener = (request, response) => {
  response.writeHead(request.url === "/live" ? 200 : 503).end(`asked for ${request.url}`);
};

test("the health check passes for an answer 2xx and fails for others, with the answer", async (t) => {
  const DENEB_MANAGEMENT_PORT = await listening(t, createServer(answering));

  assert.deepEqual(await health({ DENEB_MANAGEMENT_PORT }, "/live"), { code: 0, said: "200 asked for /live" });
  assert.deepEqual(await health({ DENEB_MANAGEMENT_PORT }), { code: 0, said: "200 asked for /live" });
  assert.deepEqual(await health({ DENEB_MANAGEMENT_PORT }, "/ready"), { code: 1, said: "503 asked for /ready" });
});

test("the health check asks on loopback an interface that listens on every address", async (t) => {
  const DENEB_MANAGEMENT_PORT = await listening(t, createServer(answering));

  assert.equal((await health({ DENEB_MANAGEMENT_PORT, DENEB_MANAGEMENT_HOST: "0.0.0.0" })).code, 0);
});

test("the health check asks at the port that the environment gives by its name in images of the predecessor", async (t) => {
  const CYGNUS_API_PORT = await listening(t, createServer(answering));

  assert.equal((await health({ CYGNUS_API_PORT, DENEB_MANAGEMENT_PORT: "" })).code, 0);
});

for (const given of ["-p PORT", "-pPORT", "--management-port PORT", "--management-port=PORT"])
  test(`the health check asks at the port of the command line of the agent, given as ${given}, before that of the environment`, async (t) => {
    const port = await listening(t, createServer(answering));
    const words = ["node", "start.mjs", "run", "--config", "a.properties", ...given.replace("PORT", port).split(" ")];
    const commandLine = path.join(await tempFolder(t), "cmdline");
    await writeFile(commandLine, words.map((word) => `${word}\0`).join(""));

    const env = { DENEB_MANAGEMENT_PORT: "1", DENEB_MANAGEMENT_HOST: "0.0.0.0" };

    assert.equal((await health(env, "/live", commandLine)).code, 0);
  });

test("the health check speaks TLS when the management interface does, whatever names its certificate has", async (t) => {
  const files = await certificate(t);
  if (files === undefined) return;
  const [cert, key] = await Promise.all([readFile(files.cert), readFile(files.key)]);
  const DENEB_MANAGEMENT_PORT = await listening(t, createTlsServer({ cert, key }, answering));

  const env = { DENEB_MANAGEMENT_PORT, DENEB_MANAGEMENT_TLS_CERTIFICATE: files.cert };

  assert.equal((await health(env)).code, 0);
  assert.equal((await health({ DENEB_MANAGEMENT_PORT })).code, 1);
});

test("the health check of an agent that does not listen fails with the reason", async () => {
  const DENEB_MANAGEMENT_PORT = String(await freePort("127.0.0.1"));

  const { code, said } = await health({ DENEB_MANAGEMENT_PORT });

  assert.equal(code, 1);
  assert.match(said, /ECONNREFUSED/);
});

async function listening(t: TestContext, server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  t.after(() => server.close());
  await once(server, "listening");
  const address = server.address();
  assert.ok(address !== null && typeof address === "object");
  return String(address.port);
}

async function health(env: Readonly<Record<string, string>>, ...words: readonly string[]) {
  return await new Promise<{ readonly code: number; readonly said: string }>((resolve) => {
    const child = execFile(process.execPath, [program, ...words], { env }, (_error, stdout) => {
      resolve({ code: child.exitCode ?? -1, said: stdout.trim() });
    });
  });
}
