import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { type AgentProcess, startAgent } from "../support/agent-process.js";
import { booksOf, settledBooks } from "../support/channel-books.js";
import { httpAgent } from "../support/http-agent.js";
import { numberedRoom, postEntities } from "../support/post-entities.js";
import { postgresqlDatabase } from "../support/postgresql.js";
import { ServiceDatabase } from "../support/service-database.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";
import { wayToPostgresql } from "../support/way-to-postgresql.js";

interface Scene {
  /** Its commits can be held back. */
  readonly way: Awaited<ReturnType<typeof wayToPostgresql>>;
  readonly services: readonly ServiceDatabase[];
  reload(agent: AgentProcess): Promise<void>;
  start(): Promise<AgentProcess>;
  query(statement: string): Promise<unknown>;
  /** Lets a role of its own be the user of the next agents; superusers are not limited. */
  useRole(): Promise<string>;
}

/** A channel of one agent, and a database for each service. */
async function scene(context: TestContext, ...lines: readonly string[]): Promise<Scene | undefined> {
  const database = await postgresqlDatabase();
  if (database === undefined) {
    context.skip("needs PostgreSQL");
    return undefined;
  }
  const agents: AgentProcess[] = [];
  // One that runs would make the databases again.
  context.after(() => Promise.all(agents.map((agent) => agent.end("SIGKILL"))));
  const tag = randomUUID().slice(0, 8);
  const services = [1, 2, 3].map((number) => new ServiceDatabase(context, `service${number}_${tag}`));
  const roles: (() => Promise<void>)[] = [];
  context.after(async () => {
    for (const drop of roles) await drop();
    await database.drop();
  });
  const way = await wayToPostgresql(context);
  const folder = await tempFolder(context);
  let [user, password] = [database.user, database.password];
  const properties = (...more: readonly string[]) =>
    httpAgent({
      channel: "file",
      sink: "rdb",
      lines: [
        "a.sinks.k.batch_retry_intervals = 100",
        "a.sinks.k.data_model = dm-by-entity-type-database",
        "a.sinks.k.rdb_host = 127.0.0.1",
        `a.sinks.k.rdb_port = ${way.port}`,
        `a.sinks.k.rdb_username = ${user}`,
        `a.sinks.k.rdb_password = ${password}`,
        `a.sinks.k.rdb_database = ${database.database}`,
        "a.sinks.k.rdb_options = sslmode=disable",
        ...lines,
        ...more,
      ],
    });
  const start = async () => {
    const env = { DENEB_RELOAD_INTERVAL: "0", DENEB_GRACE_PERIOD: "2", DENEB_DEAD_LETTER_REPLAY: "false" };
    const agent = await startAgent(context, { properties: properties(), folder, env });
    agents.push(agent);
    return agent;
  };
  return {
    way,
    start,
    services,
    /** Another sink takes the place of the one that runs. */
    async reload(agent) {
      await writeFile(path.join(folder, "agent.properties"), properties("a.sinks.k.batch_timeout = 2"));
      agent.process.kill("SIGHUP");
      await logged(agent, "configuration reloaded");
    },
    query: database.query,
    async useRole() {
      [user, password] = [`role_${tag}`, "right"];
      await database.query(`CREATE ROLE ${user} LOGIN CREATEDB PASSWORD '${password}'`);
      await database.query(`GRANT CREATE ON DATABASE ${database.database} TO ${user}`);
      roles.push(async () => {
        await database.query(`REVOKE CREATE ON DATABASE ${database.database} FROM ${user}`);
        await database.query(`DROP OWNED BY ${user} CASCADE`);
        await database.query(`DROP ROLE ${user}`);
      });
      return user;
    },
  };
}

function servicesOf({ services: [good, bad, worse] }: Scene) {
  if (good === undefined || bad === undefined || worse === undefined) throw new Error("three services");
  return [good, bad, worse] as const;
}

/** The agent stores event 1 of the first two services and stops; then the database of the second one is closed. */
async function closedAfterFirst(made: Scene): Promise<void> {
  const [good, bad] = servicesOf(made);
  const first = await made.start();
  for (const service of [good, bad]) await post(first, service, 1);
  await settledBooks(first);
  await first.end("SIGTERM");
  await bad.refuse();
}

/** One notification for each number. */
async function post(agent: AgentProcess, { name }: ServiceDatabase, ...numbers: readonly number[]): Promise<void> {
  for (const number of numbers) await postEntities(agent, [numberedRoom(number)], name);
}

/** One notification of a room with these numbers of it. */
async function postAll(agent: AgentProcess, { name }: ServiceDatabase, from: number, count: number): Promise<void> {
  const rooms = Array.from({ length: count }, (_, at) => numberedRoom(from + at));
  await postEntities(agent, rooms, name);
}

async function has(service: ServiceDatabase, number: number): Promise<void> {
  await until(
    () => service.numbers(),
    (numbers) => numbers.includes(number),
  );
}

async function logged(agent: AgentProcess, message: string): Promise<void> {
  await until(
    async () => agent.lines.some(({ msg }) => String(msg).startsWith(message)),
    (logged) => logged,
  );
}

interface Ready {
  readonly status: string;
  readonly warnings?: readonly { readonly reason: string }[];
}

async function readiness({ managementUrl }: AgentProcess): Promise<Ready> {
  const reply = await fetch(`${managementUrl}/ready`);
  return JSON.parse(await reply.text());
}

const HELD = "events of which the sink cannot tell";

test("a database that is closed at the start holds up its own events only, whatever ends the agent meanwhile, and each event is stored once", async (context) => {
  const made = await scene(context);
  if (made === undefined) return;
  const [good, bad, worse] = servicesOf(made);
  const first = await made.start();
  for (const service of [good, bad, worse]) await post(first, service, 1);
  await settledBooks(first);
  const committed = made.way.holdCommit();
  await post(first, bad, 2, 3);
  await committed;
  // These wait behind a write of which the agent does not know that it is stored.
  for (const number of [4, 5]) for (const service of [bad, good, worse]) await post(first, service, number);
  await first.end("SIGKILL");
  for (const service of [bad, worse]) await service.refuse();

  const second = await made.start();
  await has(good, 5);
  for (const service of [bad, good, worse]) await post(second, service, 6);
  await has(good, 6);
  await second.end("SIGKILL");
  const third = await made.start();
  for (const service of [bad, good, worse]) await post(third, service, 7);
  await has(good, 7);
  await third.end("SIGTERM");
  const fourth = await made.start();
  for (const service of [bad, good, worse]) await post(fourth, service, 8);
  await has(good, 8);
  const held = await booksOf(fourth);
  await worse.admit();
  await has(worse, 8);
  await post(fourth, good, 9);
  await has(good, 9);
  await bad.admit();
  const books = await settledBooks(fourth);

  assert.deepEqual([held.dead_lettered, books.dead_lettered, books.unaccounted], [0, 0, 0]);
  assert.deepEqual(
    [await good.stored(), await bad.stored(), await worse.stored()],
    [
      [1, 4, 5, 6, 7, 8, 9],
      [1, 2, 3, 4, 5, 6, 7, 8],
      [1, 4, 5, 6, 7, 8],
    ],
  );
});

test("a database that is closed before any of its events is stored holds up no others, and is named by /ready", async (context) => {
  const made = await scene(context);
  if (made === undefined) return;
  const [good, bad] = servicesOf(made);
  await closedAfterFirst(made);

  const second = await made.start();
  await postAll(second, bad, 2, 20);
  await logged(second, HELD);
  await post(second, good, 2);
  await has(good, 2);
  await post(second, bad, 22);
  const held = await until(
    () => readiness(second),
    ({ warnings = [] }) => warnings.length > 0,
  );
  await bad.admit();
  const books = await settledBooks(second);
  const after = await readiness(second);

  assert.equal(books.dead_lettered, 0);
  assert.equal(held.status, "ready");
  assert.match(held.warnings?.[0]?.reason ?? "", new RegExp(`^events are held back.*"${bad.name}"`));
  assert.deepEqual(after, { status: "ready" });
  assert.deepEqual(
    await bad.stored(),
    Array.from({ length: 22 }, (_, at) => at + 1),
  );
});

test("a reload that replaces the sink while events are held back holds up no others, and stores each event once", async (context) => {
  const made = await scene(context);
  if (made === undefined) return;
  const [good, bad] = servicesOf(made);
  const first = await made.start();
  for (const service of [good, bad]) await post(first, service, 1);
  await settledBooks(first);
  const committed = made.way.holdCommit();
  await post(first, bad, 2, 3);
  await committed;
  await first.end("SIGKILL");
  await bad.refuse();
  const second = await made.start();
  await post(second, bad, 4);
  await logged(second, HELD);

  await made.reload(second);
  await post(second, good, 2);
  await has(good, 2);
  await bad.admit();
  const books = await settledBooks(second);

  assert.equal(books.dead_lettered, 0);
  assert.deepEqual(
    [await good.stored(), await bad.stored()],
    [
      [1, 2],
      [1, 2, 3, 4],
    ],
  );
});

test("while the whole server is away nothing that is held back becomes a dead letter, and others go on behind it", async (context) => {
  const made = await scene(context);
  if (made === undefined) return;
  const [good, bad] = servicesOf(made);
  const first = await made.start();
  for (const service of [good, bad]) await post(first, service, 1);
  await settledBooks(first);
  const committed = made.way.holdCommit();
  await post(first, bad, 2);
  await committed;
  await first.end("SIGKILL");
  await bad.refuse();
  const second = await made.start();
  await post(second, bad, 3);
  await logged(second, HELD);

  made.way.close();
  await post(second, good, 2);
  await logged(second, "batch not stored, will be retried");
  made.way.open();
  await has(good, 2);
  // It is taken only when all before it are stored, dead letters, or held back again.
  await post(second, good, 3);
  await has(good, 3);
  await bad.admit();
  const books = await settledBooks(second);

  assert.equal(books.dead_lettered, 0);
  assert.deepEqual(
    [await good.stored(), await bad.stored()],
    [
      [1, 2, 3],
      [1, 2, 3],
    ],
  );
});

test("events of a database that is closed while the agent runs wait for it in their order, and hold up no others", async (context) => {
  const made = await scene(context);
  if (made === undefined) return;
  const [good, bad] = servicesOf(made);
  const agent = await made.start();
  for (const service of [good, bad]) await post(agent, service, 1);
  await settledBooks(agent);
  await bad.refuse();

  for (const number of [2, 3, 4]) {
    for (const service of [bad, good]) await post(agent, service, number);
    await has(good, number);
  }
  await bad.admit();
  const books = await settledBooks(agent);

  assert.deepEqual([books.dead_lettered, books.unaccounted], [0, 0]);
  assert.deepEqual(
    [await good.stored(), await bad.stored()],
    [
      [1, 2, 3, 4],
      [1, 2, 3, 4],
    ],
  );
});

test("a database without a connection left holds up its own events only", async (context) => {
  const made = await scene(context);
  if (made === undefined) return;
  const role = await made.useRole();
  const [good, bad] = servicesOf(made);
  const agent = await made.start();
  for (const service of [good, bad]) await post(agent, service, 1);
  await settledBooks(agent);
  await made.query(`ALTER DATABASE ${bad.name} CONNECTION LIMIT 0`);
  await made.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${role}'`);

  await postAll(agent, bad, 2, 20);
  await logged(agent, HELD);
  await post(agent, good, 2);
  await has(good, 2);
  await made.query(`ALTER DATABASE ${bad.name} CONNECTION LIMIT -1`);
  const books = await settledBooks(agent);

  assert.equal(books.dead_lettered, 0);
  assert.deepEqual(
    await bad.stored(),
    Array.from({ length: 21 }, (_, at) => at + 1),
  );
});

test("new events that are more than can be held back become dead letters, and others go on", async (context) => {
  const made = await scene(context, "a.channels.c.transactionCapacity = 20");
  if (made === undefined) return;
  const [good, bad] = servicesOf(made);
  await closedAfterFirst(made);

  const second = await made.start();
  await postAll(second, bad, 2, 40);
  await post(second, good, 2);
  await has(good, 2);
  await bad.admit();
  const books = await settledBooks(second);

  assert.ok(books.dead_lettered >= 20, JSON.stringify(books));
  assert.equal((await bad.stored()).length + books.dead_lettered, 41);
});

test("events that an earlier run may have stored never become dead letters: where they are more than can be held back, all wait", async (context) => {
  const made = await scene(context, "a.channels.c.transactionCapacity = 20");
  if (made === undefined) return;
  const [good, bad] = servicesOf(made);
  const first = await made.start();
  for (const service of [good, bad]) await post(first, service, 1);
  await settledBooks(first);
  const hold = await bad.hold();
  await postAll(first, bad, 2, 40);
  await first.end("SIGKILL");
  await bad.refuse();
  await hold.end();

  const second = await made.start();
  await post(second, good, 2);
  await logged(second, "no more events can be held back");
  const waiting = await booksOf(second);
  await bad.admit();
  const books = await settledBooks(second);

  assert.deepEqual([waiting.dead_lettered, books.dead_lettered, books.unaccounted], [0, 0, 0]);
  assert.deepEqual([await good.stored(), await bad.stored()], [[1, 2], Array.from({ length: 41 }, (_, at) => at + 1)]);
});
