import assert from "node:assert/strict";
import type { RequestListener } from "node:http";
import { type TestContext, test } from "node:test";
import { runningTeam } from "./running-team.js";

/** Answers every call with a status and a JSON body. */
function saying(status: number, body: object): RequestListener {
  return (_request, response) => {
    response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
  };
}

const reloaded = { success: "true", outcome: "reloaded", faults: [] };
const unchanged = { ...reloaded, outcome: "unchanged" };
const running = { success: "true", outcome: "running" };
const failed = { success: "false", error: "A component could not be replaced", outcome: "failed", reason: "no port" };

async function answering(context: TestContext, answers: readonly (readonly [number, object])[]) {
  const { call, workers } = await runningTeam(context, { workers: answers.map(() => ({})) });
  for (const [at, [status, body]] of answers.entries()) {
    await workers[at]?.close();
    await workers[at]?.serve(saying(status, body));
  }
  return call;
}

test("a reload that one worker refuses names it, its reason and those that made it", async (context) => {
  const call = await answering(context, [
    [200, reloaded],
    [409, failed],
    [200, reloaded],
  ]);

  const { status, body } = await call("POST", "/v1/admin/reload");

  assert.equal(status, 409);
  assert.deepEqual(body, {
    ...failed,
    error: "worker 2: A component could not be replaced; worker 1, worker 3 made the change",
  });
});

const cases = [
  { says: "reloaded when a later worker alone had something to reload", first: unchanged, second: reloaded },
  { says: "running while a later worker still reloads", first: reloaded, second: running },
] as const;

for (const { says, first, second } of cases)
  test(`a reload is ${says}`, async (context) => {
    const status = second === running ? 202 : 200;
    const call = await answering(context, [
      [200, first],
      [status, second],
    ]);

    const answer = await call("POST", "/v1/admin/reload");

    assert.deepEqual([answer.status, answer.body], [status, second]);
  });

test("the configuration is not the same as the file while that of one worker is not", async (context) => {
  const time = "2026-01-15T10:00:00.000Z";
  const call = await answering(context, [
    [200, { success: "true", same: true, difference: {}, last_reload: { ok: true, outcome: "reloaded", time } }],
    [
      200,
      {
        success: "true",
        same: false,
        difference: { changed: ["k"] },
        last_reload: { ok: false, outcome: "failed", time },
      },
    ],
  ]);

  const { body } = await call("GET", "/v1/configuration");

  assert.deepEqual([body.same, body.difference, body.last_reload.outcome], [false, { changed: ["k"] }, "failed"]);
});
