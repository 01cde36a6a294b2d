import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import type { TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { until } from "../support/until.js";
import { wayToPostgresql } from "../support/way-to-postgresql.js";
import { type Counted, CountingClients } from "./counting-clients.js";
import type { HostilePostgresql } from "./hostile-postgresql.js";
import { patience, seed } from "./measure.js";
import { oneSinkLines } from "./one-sink-lines.js";
import { seeded } from "./seeded.js";
import { SharedAgent } from "./shared-agent.js";
import type { SharedEngine } from "./shared-engines.js";
import { agentMishaps, inTurn, MishapBook, working } from "./shared-mishaps.js";
import { type CountedRow, sharedVerdict } from "./shared-verdict.js";
import { connectionsEnded, type Mishap, serverKilled } from "./troubles.js";

const AGENTS = 3;
const CLIENTS = 6;
const SESSION_SECONDS = 2;
const LATE_ROWS_MILLIS = 30_000;

export interface SharedCrash {
  readonly folder: string;
  readonly server: HostilePostgresql;
  readonly engine: SharedEngine;
  readonly rounds: number;
  /** Whether PostgreSQL has its own trouble meanwhile; true when absent. */
  readonly hostileServer?: boolean;
  /** Of all that may happen, what does; all when absent. */
  readonly only?: readonly string[];
}

/** Clients send to several agents that share a log, while things befall them; then what is stored is compared with what was accepted. */
export async function sharedCrash(context: TestContext, crash: SharedCrash): Promise<void> {
  const { server, engine, rounds, hostileServer = true, only } = crash;
  const random = seeded(seed);
  const agents = await agentsOf(context, crash);
  await firstRows(server, agents);
  const book = new MishapBook();
  const clients = new CountingClients(
    agents.map(({ notifyUrl }) => notifyUrl),
    CLIENTS,
    random,
  );
  const of = { agents, random, book, sessionMillis: SESSION_SECONDS * 1000 };
  const all = { ...agentMishaps(of), ...engine.mishaps };
  const chosen = Object.fromEntries(Object.entries(all).filter(([name]) => only?.includes(name) ?? true));
  const ending = new AbortController();
  const serverTrouble = hostileServer ? troubleOf(server, random, ending.signal) : Promise.resolve();
  try {
    await inTurn(chosen, rounds, of);
    ending.abort();
    await serverTrouble;
    const accepted = clients.accepted;
    await until(
      async () => clients.accepted,
      (now) => now > accepted + 20,
      patience,
    );
    const counted = await clients.stop();
    const remarks = await drained(agents);
    const rows = await rowsWith(server, counted);
    context.diagnostic(
      `${clients.accepted} notifications accepted of ${counted.accepted.size} rows, ${counted.others.size} rows not accepted, ${rows.length} stored; ${book.text}`,
    );
    const faults = sharedVerdict(counted, rows);
    assert.deepEqual(remarks, []);
    assert.deepEqual(faults, { lost: [], doubled: [], unknown: [], disordered: [] });
    assert.deepEqual(await oldLastData(server), []);
    assert.deepEqual(
      agents.flatMap(({ ends }) => ends),
      [],
      "no agent ended by itself",
    );
  } catch (error) {
    await showLastLines(context, agents);
    throw error;
  } finally {
    ending.abort();
    await clients.stop();
  }
}

async function agentsOf(
  context: TestContext,
  { folder, server, engine }: SharedCrash,
): Promise<readonly SharedAgent[]> {
  const agents: SharedAgent[] = [];
  for (let index = 0; index < AGENTS; index += 1) {
    const own = path.join(folder, `agent-${index}`);
    await mkdir(own);
    const port = Number(server.sink["rdb_port"]);
    const ways = { database: await wayToPostgresql(context, { host: "127.0.0.1", port }), engine: await engine.way() };
    const channel = {
      ...engine.properties(ways.engine),
      session_timeout: String(SESSION_SECONDS),
      stall_timeout: "3",
    };
    const database = { host: "127.0.0.1", user: "postgres", password: "", database: "postgres" };
    const lines = [
      ...oneSinkLines({ ...database, port: ways.database.port }, engine.properties(ways.engine)["type"] ?? ""),
      "deneb.sinks.s.last_data_mode = both",
      ...Object.entries(channel)
        .filter(([key]) => key !== "type")
        .map(([key, value]) => `deneb.channels.c.${key} = ${value}`),
    ].filter((line) => !/http-source\.port|\.batch_size/.test(line));
    const agent = await SharedAgent.make({ folder: own, flags: engine.flags, lines, ways });
    context.after(() => agent.end("SIGKILL"));
    await agent.start();
    agents.push(agent);
  }
  try {
    await Promise.all(agents.map(working));
  } catch (error) {
    await showLastLines(context, agents);
    throw error;
  }
  return agents;
}

async function showLastLines(context: TestContext, agents: readonly SharedAgent[]): Promise<void> {
  for (const agent of agents) context.diagnostic(await agent.lastLines());
}

/** Makes the tables, and has the database count the rows in the order in which they are stored. */
async function firstRows(server: HostilePostgresql, agents: readonly SharedAgent[]): Promise<void> {
  const [agent] = agents;
  const entity = { id: "urn:room:first", type: "Room", number: { type: "Property", value: 0 } };
  const first = async () =>
    await fetch(agent?.notifyUrl ?? "", {
      method: "POST",
      headers: { "Content-Type": "application/json", "Fiware-Service": "crash" },
      body: JSON.stringify({ type: "Notification", subscriptionId: "urn:s:1", data: [entity] }),
    });
  assert.equal((await first()).status, 200);
  await until(
    () => server.query("select 1 from crash.room").catch(() => []),
    (rows) => rows.length > 0,
  );
  await server.query("alter table crash.room add column seq bigserial");
  await server.query("delete from crash.room; delete from crash.room_last_data");
}

async function troubleOf(server: HostilePostgresql, random: () => number, signal: AbortSignal): Promise<void> {
  const all: readonly Mishap[] = [connectionsEnded(server), connectionsEnded(server), serverKilled(server)];
  while (!signal.aborted) {
    await pause(500 + random() * 2500);
    if (!signal.aborted) await all[Math.floor(random() * all.length)]?.().catch(() => undefined);
  }
}

/** Waits until every agent says that nothing waits; tells what it says besides that is not as it must be. */
async function drained(agents: readonly SharedAgent[]): Promise<readonly string[]> {
  const sights = async () =>
    await Promise.all(
      agents.map(async (agent) => {
        const stats = await agent.stats();
        const { waiting, unaccounted, exact, lost } = stats?.channels[0]?.log ?? {};
        return { waiting, unaccounted, exact, lost, letters: stats?.dead_letters.map((one) => one.num_waiting) };
      }),
    );
  const last = await until(
    sights,
    (all) => all.every(({ waiting, exact }) => waiting === 0 && exact === true),
    patience,
  );
  return last
    .filter(({ unaccounted, lost, letters }) => unaccounted !== 0 || lost !== 0 || (letters ?? []).some(Boolean))
    .map((sight) => JSON.stringify(sight));
}

/** What an agent appended just before it was killed, nobody else knows of until it is read: the rows are looked at again. */
async function rowsWith(server: HostilePostgresql, counted: Counted): Promise<readonly CountedRow[]> {
  const end = performance.now() + LATE_ROWS_MILLIS;
  for (;;) {
    const rows = await rowsOf(server);
    if (sharedVerdict(counted, rows).lost.length === 0 || performance.now() > end) return rows;
    await pause(500);
  }
}

async function rowsOf(server: HostilePostgresql): Promise<readonly CountedRow[]> {
  const rows = await server.query("select entityid, number from crash.room order by seq");
  return rows.map(({ entityid, number }) => ({ entity: entityid ?? "", number: Number(number) }));
}

/** Entities whose row of last data is not the newest of their rows. */
async function oldLastData(server: HostilePostgresql): Promise<readonly unknown[]> {
  return await server.query(`
    select coalesce(l.entityid, r.entityid) as entity, l.recvtime, r.newest
    from crash.room_last_data l
    full join (select entityid, max(recvtime) as newest from crash.room group by 1) r on r.entityid = l.entityid
    where l.recvtime is distinct from r.newest`);
}
