import assert from "node:assert/strict";
import { test } from "node:test";
import { settledBooks } from "../support/channel-books.js";
import { room, type StoringAgent, storingAgent } from "../support/storing-agent.js";
import { until } from "../support/until.js";

/** Has PostgreSQL refuse rows of svc.room, as a function of an extension would. */
async function refuse(
  { database }: StoringAgent,
  when: string,
  sqlState: string,
  words = "lwgeom is not a geometry",
): Promise<void> {
  // A sequence counts what is rolled back, too.
  await database.query("create sequence svc.refusals");
  await database.query(`create or replace function svc.refuse() returns trigger language plpgsql as $$ begin
    if ${when} then perform nextval('svc.refusals'); raise exception '${words}' using errcode = '${sqlState}'; end if;
    return new; end $$`);
  await database.query(
    "create or replace trigger refuse before insert on svc.room for each row execute function svc.refuse()",
  );
}

async function values({ database }: StoringAgent): Promise<readonly unknown[]> {
  // The order of the insertion, whatever the clock said.
  const rows = await database.query("select value from svc.room order by ctid");
  return rows.map(({ value }) => value);
}

test("a value that makes PostgreSQL raise an internal error becomes a dead letter, its neighbours are stored in order", async (context) => {
  const storing = await storingAgent(context);
  if (storing === undefined) return;
  const { post, settled, ask } = storing;
  assert.equal(await post([room(0, "v0")]), 200);
  await settled();
  await refuse(storing, "new.value like 'poison%'", "XX000");

  const names = ["poison1", "v1", "v2", "poison2", "v3", "v4", "v5", "poison3"];
  assert.equal(await post(names.map((name, index) => room(index + 1, name))), 200);
  const ledger = await settledBooks(storing.agent);
  const { deadletters } = await ask("GET", "/v1/admin/deadletters");

  assert.deepEqual(await values(storing), ["v0", "v1", "v2", "v3", "v4", "v5"]);
  assert.deepEqual([ledger.stored, ledger.dead_lettered], [6, 3]);
  for (const letter of deadletters) {
    assert.equal(letter.reason, "permanent");
    assert.match(letter.message, /lwgeom is not a geometry/);
  }
});

test("half a surrogate pair is stored as U+FFFD, an entity with NUL becomes a dead letter, and both leave their neighbours alone", async (context) => {
  const storing = await storingAgent(context, "deneb.channels.c.type = file", "deneb.channels.c.transactionCapacity");
  if (storing === undefined) return;
  const { post, ask, database } = storing;

  const names = ["v0", "a\ud800", "v1", "\udc00b", "x\0y", "v2"];
  assert.equal(await post(names.map((name, index) => room(index, name))), 200);
  assert.equal(
    await post([{ id: "urn:room:\udfff", type: "Room", "value\ud83d": { type: "Property", value: "v3" } }]),
    200,
  );
  const ledger = await settledBooks(storing.agent);
  const { deadletters } = await ask("GET", "/v1/admin/deadletters");
  const named = await database.query('select entityid, "value\ufffd" as text from svc.room where value is null');

  assert.deepEqual((await values(storing)).slice(0, -1), ["v0", "a\ufffd", "v1", "\ufffdb", "v2"]);
  assert.deepEqual(named, [{ entityid: "urn:room:\ufffd", text: "v3" }]);
  assert.deepEqual([ledger.stored, ledger.dead_lettered, deadletters.length], [6, 1, 1]);
});

for (const { what, others, code, message } of [
  { what: "a server with a full disk", others: [], code: "53100" },
  {
    // As PostgreSQL 15 says it when the quota of its file system is used up; it has no code of its own for it.
    what: "a used-up quota of a disk, while other tables take rows,",
    others: [{ id: "urn:car:0", type: "Car" }],
    code: "XX000",
    message: 'could not extend file "base/5/16385_fsm": Disk quota exceeded',
  },
])
  test(`behind a file channel ${what} makes no dead letters, however often it refuses, unless batch_ttl is set`, async (context) => {
    const storing = await storingAgent(
      context,
      "deneb.channels.c.type = file",
      "deneb.channels.c.capacity",
      "deneb.channels.c.transactionCapacity",
      "deneb.sinks.rdb-sink.batch_ttl",
    );
    if (storing === undefined) return;
    const { post, settled, ask, database } = storing;
    assert.equal(await post([room(0, "v0"), ...others]), 200);
    await settled();
    await refuse(storing, "true", code, message);

    assert.equal(await post([room(1, "v1"), room(2, "v2")]), 200);
    await until(
      async () => Number((await database.query("select last_value from svc.refusals"))[0]?.["last_value"]),
      (refusals) => refusals >= 16,
    );
    const letters = await ask("GET", "/v1/admin/deadletters");
    await database.query("drop trigger refuse on svc.room");
    const ledger = await settledBooks(storing.agent);

    assert.equal(letters.count, 0);
    assert.deepEqual(await values(storing), ["v0", "v1", "v2"]);
    assert.deepEqual([ledger.stored, ledger.dead_lettered], [3 + others.length, 0]);
  });
