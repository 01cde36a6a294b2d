import assert from "node:assert/strict";
import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { codeOf } from "../../../core/sdk/index.js";
import { Acceptances } from "../../../plugins/http-source/acceptances.js";

const response = () => new ServerResponse(new IncomingMessage(new Socket()));

test("an answer that cannot be written is told, and the others of its turn are written", async () => {
  const [first, answered, last] = [response(), response(), response()];
  answered.writeHead(204).end();
  const told: unknown[] = [];
  const acceptances = new Acceptances((which, error) => told.push(which === answered, codeOf(error)));

  for (const one of [first, answered, last]) acceptances.answer(one);
  await turn();

  assert.deepEqual(told, [true, "ERR_HTTP_HEADERS_SENT"]);
  assert.deepEqual(
    [first, last].map(({ statusCode, headersSent }) => [statusCode, headersSent]),
    [
      [200, true],
      [200, true],
    ],
  );
});
