import assert from "node:assert/strict";
import { test } from "node:test";
import { startAgent } from "../support/agent-process.js";
import { booksOf, settledBooks } from "../support/channel-books.js";
import { postEntities } from "../support/post-entities.js";
import { room, type StoringAgent, storingAgent, storingAgentWith } from "../support/storing-agent.js";
import { until } from "../support/until.js";

const fileChannel = [
  "deneb.channels.c.type = file",
  "deneb.channels.c.capacity",
  "deneb.channels.c.transactionCapacity",
  "deneb.sinks.rdb-sink.batch_ttl",
] as const;

async function post({ agent }: StoringAgent, service: string, data: readonly object[]): Promise<void> {
  await postEntities(agent, data, service);
}

/** Has the table of a service refuse all rows. */
async function refuse({ database }: StoringAgent, service: string, statement: string): Promise<void> {
  await database.query(`create or replace function ${service}.refuse() returns trigger language plpgsql as $$ begin
    ${statement}; return new; end $$`);
  await database.query(
    `create trigger refuse before insert on ${service}.room for each row execute function ${service}.refuse()`,
  );
}

const faults = [
  { what: "a trigger that names a dropped table", statement: "insert into gone.gone values (1)" },
  { what: "a missing right", statement: "raise exception 'permission denied' using errcode = '42501'" },
  { what: "a trigger that raises an error", statement: "raise exception 'no'", lasting: true },
];

for (const { what, statement, lasting = false } of faults)
  test(`behind a file channel a service with ${what} does not hold up others, whatever stands first`, async (context) => {
    const lines = [...fileChannel, "deneb.sinks.rdb-sink.batch_retry_intervals = 100"];
    // A replay by itself, from five seconds after the start of the agent on, would count its event once more.
    const storing = await storingAgentWith(context, { lines, env: { DENEB_DEAD_LETTER_REPLAY: "false" } });
    if (storing === undefined) return;
    const { agent, database, ask, settled } = storing;
    for (const service of ["good", "bad"]) await post(storing, service, [room(0)]);
    await settled();
    await refuse(storing, "bad", statement);

    for (let n = 1; n <= 10; n += 1) await post(storing, "bad", [room(n), room(100 + n)]);
    for (let n = 1; n <= 5; n += 1) {
      await post(storing, "good", [room(n)]);
      await post(storing, "bad", [room(200 + n)]);
    }
    const ledger = await settledBooks(agent);
    const { deadletters } = await ask("GET", "/v1/admin/deadletters?limit=100");

    assert.deepEqual([ledger.stored, ledger.dead_lettered], [7, 25]);
    assert.deepEqual(await database.query("select count(*) as rows from good.room"), [{ rows: "6" }]);
    for (const { reason } of deadletters) assert.equal(reason, lasting ? "permanent" : "retries-exhausted");
  });

test("after a kill a service whose events stand first holds up no others, although nothing is stored yet", async (context) => {
  const storing = await storingAgent(context, ...fileChannel);
  if (storing === undefined) return;
  const { agent, database, folder, properties, settled } = storing;
  for (const service of ["good", "bad"]) await post(storing, service, [room(0)]);
  await settled();
  await refuse(storing, "bad", "insert into gone.gone values (1)");
  await agent.end("SIGKILL");
  const mended = await startAgent(context, { properties: properties(), folder });
  const again = { ...storing, agent: mended };

  await post(
    again,
    "bad",
    Array.from({ length: 20 }, (_, n) => room(n + 1)),
  );
  const { dead_lettered } = await settledBooks(mended);
  await database.query("drop trigger refuse on bad.room");
  await post(again, "good", [room(1)]);

  assert.equal(dead_lettered, 20);
  await until(
    async () => Number((await database.query("select count(*) as rows from bad.room"))[0]?.["rows"]),
    (rows) => rows === 21,
  );
  assert.deepEqual(await database.query("select count(*) as rows from good.room"), [{ rows: "2" }]);
});

test("behind a file channel an error that all services have makes no dead letters", async (context) => {
  const storing = await storingAgent(context, ...fileChannel);
  if (storing === undefined) return;
  const { agent, database, ask, settled } = storing;
  for (const service of ["one", "other"]) await post(storing, service, [room(0)]);
  await settled();
  await database.query("create sequence one.refusals");
  for (const service of ["one", "other"])
    await refuse(
      storing,
      service,
      "perform nextval('one.refusals'); raise exception 'permission denied' using errcode = '42501'",
    );

  for (const service of ["one", "other"]) await post(storing, service, [room(1), room(2)]);
  await until(
    async () => Number((await database.query("select last_value from one.refusals"))[0]?.["last_value"]),
    (refusals) => refusals >= 40,
  );
  const letters = await ask("GET", "/v1/admin/deadletters");
  const waiting = (await booksOf(agent)).waiting;
  for (const service of ["one", "other"]) await database.query(`drop trigger refuse on ${service}.room`);
  const ledger = await settledBooks(agent);

  assert.deepEqual([letters.count, waiting], [0, 4]);
  assert.deepEqual([ledger.stored, ledger.dead_lettered], [6, 0]);
});

test("events of two services that are refused for two reasons hold up no others", async (context) => {
  const storing = await storingAgent(context, ...fileChannel);
  if (storing === undefined) return;
  const { agent, settled } = storing;
  for (const service of ["bad", "good", "worse"]) await post(storing, service, [room(0)]);
  await settled();
  await refuse(storing, "bad", "raise exception 'never'");
  await refuse(storing, "worse", "raise exception 'not today'");

  for (const service of ["worse", "good", "bad", "good"]) await post(storing, service, [room(1)]);
  const ledger = await settledBooks(agent);

  assert.deepEqual([ledger.stored, ledger.dead_lettered], [5, 2]);
});
