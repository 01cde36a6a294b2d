import assert from "node:assert/strict";
import { test } from "node:test";
import { ConnectionPool } from "../../../plugins/rdb-sink/mysql/connection-pool.js";

interface Made {
  readonly pool: ConnectionPool<number>;
  /** Numbers of the connections that were closed. */
  readonly closed: readonly number[];
}

function poolOf(limits: { readonly mostOpen: number; readonly mostIdle: number }): Made {
  const closed: number[] = [];
  let opened = 0;
  const pool = new ConnectionPool<number>({
    open: async () => ++opened,
    close: async (connection) => void closed.push(connection),
    leastIdle: 0,
    idleMillis: 0,
    ...limits,
  });
  return { pool, closed };
}

test("a returned connection is used again before another is opened", async () => {
  const { pool } = poolOf({ mostOpen: 2, mostIdle: 2 });

  const first = await pool.take();
  pool.keep(first);

  assert.equal(await pool.take(), first);
});

test("a caller beyond mostOpen waits until a connection is returned", async () => {
  const { pool } = poolOf({ mostOpen: 1, mostIdle: 1 });
  const first = await pool.take();
  const order: string[] = [];

  const waiting = pool.take().then((connection) => order.push(`taken ${connection}`));
  order.push("back");
  pool.keep(first);
  await waiting;

  assert.deepEqual(order, ["back", "taken 1"]);
});

test("a lost connection frees its slot", async () => {
  const { pool } = poolOf({ mostOpen: 1, mostIdle: 1 });
  await pool.take();

  const waiting = pool.take();
  pool.lose();

  assert.equal(await waiting, 2);
});

test("no more than mostIdle connections are kept, and the end closes them", async () => {
  const { pool, closed } = poolOf({ mostOpen: 3, mostIdle: 1 });
  const taken = [await pool.take(), await pool.take(), await pool.take()];

  for (const connection of taken) pool.keep(connection);
  assert.deepEqual(closed, [2, 3]);
  await pool.end();

  assert.deepEqual(closed, [2, 3, 1]);
});

test("a broken idle connection is not used again", async () => {
  const { pool } = poolOf({ mostOpen: 1, mostIdle: 1 });
  const first = await pool.take();
  pool.keep(first);

  pool.broken(first);

  assert.equal(await pool.take(), 2);
});

test("a connection that cannot be opened frees its slot", async () => {
  let tries = 0;
  const pool = new ConnectionPool<number>({
    open: async () => {
      tries += 1;
      if (tries === 1) throw new Error("away");
      return tries;
    },
    close: async () => undefined,
    mostOpen: 1,
    mostIdle: 1,
    leastIdle: 0,
    idleMillis: 0,
  });

  await assert.rejects(pool.take(), { message: "away" });

  assert.equal(await pool.take(), 2);
});

test("an idle connection is closed after its time, down to leastIdle", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const closed: number[] = [];
  let opened = 0;
  const pool = new ConnectionPool<number>({
    open: async () => ++opened,
    close: async (connection) => void closed.push(connection),
    mostOpen: 2,
    mostIdle: 2,
    leastIdle: 1,
    idleMillis: 1000,
  });
  const taken = [await pool.take(), await pool.take()];
  for (const connection of taken) pool.keep(connection);

  context.mock.timers.tick(999);
  assert.deepEqual(closed, []);
  context.mock.timers.tick(1);

  assert.deepEqual(closed, [1]);
});
