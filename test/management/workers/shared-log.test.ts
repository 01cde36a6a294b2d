import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { DEAD_LETTERS } from "../../../core/agent/container.js";
import { AgentError } from "../../../core/sdk/index.js";
import { ScriptedSink } from "../../support/scripted-sink.js";
import { SharedLog } from "../../support/shared-channel.js";
import { until } from "../../support/until.js";
import { deadLetter } from "../dead-letters/dead-letters.js";
import { runningTeam } from "./running-team.js";

const path = "/v1/admin/deadletters";

/** Two workers over one log, whose sinks refuse everything while the test wants it; one event is a dead letter already. */
async function sharing(context: TestContext) {
  const { plugin } = new SharedLog();
  let refuses = true;
  const sink = () =>
    new ScriptedSink(() => (refuses ? new AgentError("POISON", "storing", { retryable: false }) : undefined));
  const sinks = [sink(), sink()];
  const team = await runningTeam(context, { workers: sinks.map((one) => ({ sink: one, channelPlugin: plugin })) });
  await team.workers[0]?.accept();
  await until(
    () => Promise.all([1, 2].map((number) => team.call("GET", `/workers/${number}${path}`))),
    (answers) => answers.every(({ body }) => body.count === 1),
  );
  const accept = () => {
    refuses = false;
  };
  return { ...team, sinks, acceptAll: accept };
}

test("the log that workers share is shown once, and so are its events", async (context) => {
  const { call } = await sharing(context);

  const { stats } = await until(
    async () => (await call("GET", "/v1/stats")).body,
    ({ stats: { ledger } }) => ledger.channels[0].dead_lettered === 1,
  );

  assert.equal(stats.channels[0].log.appended, 1);
  assert.equal(stats.channels[0].log.agents.length, 2);
  assert.deepEqual(
    stats.channels[0].log.agents.map(({ mine }: { readonly mine: boolean }) => mine),
    [true, true],
  );
  assert.deepEqual([stats.ledger.channels[0].received, stats.ledger.channels[0].dead_lettered], [1, 1]);
  assert.deepEqual([stats.dead_letters.length, stats.dead_letters[0].num_waiting], [1, 1]);
});

test("a dead letter that workers share is counted, listed and found once, beside those of one worker", async (context) => {
  const { call, workers } = await sharing(context);
  await workers[1]?.container.resolve(DEAD_LETTERS).keep([deadLetter("own", "private")]);

  const list = await call("GET", path);
  const search = await call("GET", `${path}/search`);

  assert.equal(list.body.count, 2);
  assert.equal(list.body.deadletters.length, 2);
  assert.deepEqual([search.body.deadletters.length, search.body.complete], [2, true]);
});

test("a dead letter that workers share is replayed by one of them", async (context) => {
  const { call, sinks, acceptAll } = await sharing(context);
  acceptAll();

  const { status, body } = await call("POST", `${path}/replay`);
  await until(
    () => call("GET", path),
    (answer) => answer.body.count === 0,
  );

  assert.equal(status, 200);
  assert.deepEqual([body.replayed, body.underway, body.refused], [1, 0, 0]);
  assert.equal(
    sinks.reduce((sum, { stored }) => sum + stored.length, 0),
    1,
  );
});
