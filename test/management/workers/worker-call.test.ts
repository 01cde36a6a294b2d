import assert from "node:assert/strict";
import { createServer, type RequestListener } from "node:http";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { ask } from "../../../core/management/workers/worker-call.js";
import { codeOf } from "../../../core/sdk/index.js";
import { tempFolder } from "../../support/temp-folder.js";
import { listening, viewOf } from "./running-team.js";

const request = { method: "GET", path: "/v1/stats", headers: {}, body: undefined };

/** The code of the error with which a call of such a worker ends. */
async function failureWith(context: TestContext, listener: RequestListener | undefined) {
  const socket = join(await tempFolder(context), "1.sock");
  if (listener !== undefined) {
    const server = await listening(createServer(listener), socket);
    context.after(() => {
      server.closeAllConnections();
      server.close();
    });
  }
  const failure = await ask(viewOf(1, socket), request, { limit: 100, signal: undefined }).catch((error) => error);
  return codeOf(failure);
}

const cases = [
  { worker: "does not listen", listener: undefined, code: "WORKER_UNREACHABLE" },
  { worker: "does not answer", listener: () => {}, code: "WORKER_LATE" },
  { worker: "does not end its answer", listener: (_request, response) => response.write("{"), code: "WORKER_LATE" },
  { worker: "ends before its answer", listener: ({ socket }) => socket.destroy(), code: "WORKER_BROKE_OFF" },
  {
    worker: "ends within its answer",
    listener: (_request, response) => response.write("{", () => response.destroy()),
    code: "WORKER_BROKE_OFF",
  },
] as const satisfies readonly { worker: string; listener: RequestListener | undefined; code: string }[];

for (const { worker, listener, code } of cases)
  test(`a worker that ${worker} is ${code}`, async (context) => {
    assert.equal(await failureWith(context, listener), code);
  });
