import assert from "node:assert/strict";
import { after, type TestContext, test } from "node:test";
import { reasonOf } from "../../../core/sdk/index.js";
import { mysqlServer } from "../../support/mysql.js";
import { at } from "../../support/position.js";
import { mysqlRelay, type ServerError } from "./mysql-relay.js";
import { entity, eventOf, never, onMysql, sinkOf } from "./sinks.js";

const server = await mysqlServer();
after(() => server?.drop());
const [variable] = (await server?.query("SHOW VARIABLES LIKE 'wsrep_sync_wait'")) ?? [];
const skip = variable === undefined ? "needs a MariaDB with Galera, which need not be in use" : false;

/** What a node answers to a read that waits, after `repl.causal_read_timeout`. */
const TOO_LATE = { number: 1205, state: "HY000", message: "Lock wait timeout exceeded" } as const;
const OUTSIDE = {
  number: 1047,
  state: "08S01",
  message: "WSREP has not yet prepared node for application use",
} as const;

test("before positions are read, a read waits for what the cluster has committed, and others do not", {
  skip,
}, async (context) => {
  if (server === undefined) return;
  const texts: string[] = [];
  const { persist, stored, stop } = await sinkThrough(context, (text) => void texts.push(text));

  await persist("1");
  texts.length = 0;
  await persist("2");
  const ofWrite = texts.splice(0);
  await stored();
  await stop();

  assert.deepEqual(ofWrite.filter(isOfWait), []);
  const from = texts.indexOf("SET SESSION wsrep_sync_wait = 1");
  assert.match(texts[from + 1] ?? "", /^SELECT COUNT/);
  assert.equal(texts[from + 2], "SET SESSION wsrep_sync_wait = 0");
  assert.equal(texts.filter(isOfWait).length, 3, "once for all that is read");
});

const lags =
  /is a node that lags behind its cluster: .*; wait until .*, raise repl\.causal_read_timeout there, or point rdb_host to another node$/;

for (const { title, next, expected } of [
  { title: "lags behind says so, and nothing counts as not stored", next: undefined, expected: lags },
  { title: "is outside of its cluster says that", next: OUTSIDE, expected: /outside of its cluster/ },
])
  test(`a node that ${title}`, { skip }, async (context) => {
    const before = await sinkThrough(context, () => undefined);
    await before.persist("1");
    await before.stop();
    let isLate = true;
    let waits = false;
    const { stored, stop } = await sinkThrough(context, (text) => {
      if (isOfWait(text)) waits = text.endsWith("= 1");
      if (!isLate) return undefined;
      if (text.includes("LOCK IN SHARE MODE")) return next;
      return waits && text.startsWith("SELECT") ? TOO_LATE : undefined;
    });

    const failure = await stored().catch(reasonOf);
    isLate = false;
    const found = await stored();
    await stop();

    assert.match(String(failure), expected);
    assert.equal(found.length, 1);
  });

function isOfWait(text: string): boolean {
  return text.includes("wsrep_sync_wait");
}

async function sinkThrough(context: TestContext, seen: (text: string) => ServerError | undefined) {
  if (server === undefined) throw new Error("no server");
  const service = `${server.prefix}cluster`;
  const port = await mysqlRelay(context, server, seen);
  const { sink } = sinkOf({ ...onMysql({ ...server, port }), rdb_options: "sslMode=DISABLED" });
  const event = (a: string) => eventOf(entity("e", { a }), service);
  const first = event("1");
  return {
    persist: (a: string) => sink.persist({ events: [event(a)], position: at(`${service}:${a}`) }, never),
    stored: () => sink.positions.alreadyStored({ events: [first], position: at(`${service}:1`, [first]) }, never),
    stop: () => sink.stop(never),
  };
}
