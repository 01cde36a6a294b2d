import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import type { TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { until } from "../support/until.js";
import { wayToPostgresql } from "../support/way-to-postgresql.js";
import { type Counted, CountingClients } from "./counting-clients.js";
import { patience, seed } from "./measure.js";
import { sinkLines } from "./one-sink-lines.js";
import { seeded } from "./seeded.js";
import { SharedAgent } from "./shared-agent.js";
import type { SharedEngine } from "./shared-engines.js";
import { agentMishaps, inTurn, MishapBook, working } from "./shared-mishaps.js";
import type { SharedStore } from "./shared-store.js";
import { type CountedRow, sharedVerdict } from "./shared-verdict.js";

const HOST = "127.0.0.1";
const AGENTS = 3;
const CLIENTS = 6;
const SESSION_SECONDS = 2;
const LATE_ROWS_MILLIS = 120_000;

export interface SharedCrash {
  readonly folder: string;
  readonly store: SharedStore;
  readonly engine: SharedEngine;
  /** What befalls them first, one after another. */
  readonly first: readonly string[];
  /** Times that something befalls them at random after that. */
  readonly more: number;
  /** Whether the database has its own trouble meanwhile; true when absent. */
  readonly hostileStore?: boolean;
  /** Of all that may happen, what does; all when absent. */
  readonly only?: readonly string[];
  /** The retries after which a sink makes dead letters, which are replayed; without limit when absent. */
  readonly retries?: number;
}

/** Clients send to several agents that share a log, while things befall them; then what is stored is compared with what was accepted. */
export async function sharedCrash(context: TestContext, crash: SharedCrash): Promise<void> {
  const { store, engine, hostileStore = true, only, retries } = crash;
  const random = seeded(seed);
  const agents = await agentsOf(context, crash);
  await firstRows(store, agents);
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
  const storeTrouble = hostileStore ? troubleOf(store, random, ending.signal) : Promise.resolve();
  try {
    await inTurn(chosen, crash, of);
    ending.abort();
    await storeTrouble;
    const accepted = clients.accepted;
    await until(
      async () => clients.accepted,
      (now) => now > accepted + 20,
      patience,
    );
    const counted = await clients.stop();
    const remarks = await drained(agents, retries !== undefined);
    const rows = await rowsWith(store, counted);
    const letters = (await Promise.all(agents.map((agent) => agent.letters()))).reduce((sum, one) => sum + one, 0);
    context.diagnostic(
      `${clients.accepted} notifications accepted of ${counted.accepted.size} rows, ${counted.others.size} rows not accepted, ${rows.length} stored, ${letters} dead letters; ${book.text}`,
    );
    const { disordered, ...faults } = sharedVerdict(counted, rows);
    assert.deepEqual(remarks, []);
    assert.deepEqual(faults, { lost: [], doubled: [], unknown: [] });
    // What becomes a dead letter is stored later than what comes behind it.
    if (retries === undefined) assert.deepEqual([disordered, letters], [[], 0]);
    else assert.ok(letters > 0);
    assert.deepEqual(await store.oldLastData(), []);
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

async function agentsOf(context: TestContext, crash: SharedCrash): Promise<readonly SharedAgent[]> {
  const { folder, store, engine, retries } = crash;
  const agents: SharedAgent[] = [];
  for (let index = 0; index < AGENTS; index += 1) {
    const own = path.join(folder, `agent-${index}`);
    await mkdir(own);
    const database = await wayToPostgresql(context, { host: HOST, port: store.port });
    const ways = { database, engine: await engine.way() };
    const channel = {
      ...engine.properties(ways.engine),
      session_timeout: String(SESSION_SECONDS),
      stall_timeout: "3",
    };
    const lines = [
      ...sinkLines(
        engine.properties(ways.engine)["type"] ?? "",
        { ...store.properties, rdb_host: HOST, rdb_port: String(database.port) },
        retries,
      ),
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
async function firstRows(store: SharedStore, agents: readonly SharedAgent[]): Promise<void> {
  const [agent] = agents;
  const entity = { id: "urn:room:first", type: "Room", number: { type: "Property", value: 0 } };
  const first = async () =>
    await fetch(agent?.notifyUrl ?? "", {
      method: "POST",
      headers: { "Content-Type": "application/json", "Fiware-Service": "crash" },
      body: JSON.stringify({ type: "Notification", subscriptionId: "urn:s:1", data: [entity] }),
    });
  assert.equal((await first()).status, 200);
  await until(() => store.hasRows(), Boolean);
  await store.countRows();
}

async function troubleOf({ mishaps: all }: SharedStore, random: () => number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await pause(500 + random() * 2500);
    if (!signal.aborted) await all[Math.floor(random() * all.length)]?.().catch(() => undefined);
  }
}

/** Waits until every agent says that nothing waits; tells what it says besides that is not as it must be. */
async function drained(agents: readonly SharedAgent[], hasLetters: boolean): Promise<readonly string[]> {
  const sights = async () => {
    if (hasLetters) await agents[0]?.replay();
    return await Promise.all(
      agents.map(async (agent) => {
        const stats = await agent.stats();
        const { waiting, unaccounted, exact, lost } = stats?.channels[0]?.log ?? {};
        const all = (stats?.dead_letters ?? []).map((one) => one.num_waiting + one.num_replaying);
        const letters = all.reduce((sum, one) => sum + one, 0);
        return { waiting, unaccounted, exact, lost, letters };
      }),
    );
  };
  const last = await until(
    sights,
    (all) =>
      all.every(({ waiting, exact, letters }) => waiting === 0 && exact === true && !(hasLetters && letters > 0)),
    patience,
  );
  return last
    .filter(({ unaccounted, lost, letters }) => unaccounted !== 0 || lost !== 0 || letters > 0)
    .map((sight) => JSON.stringify(sight));
}

/** What an agent appended just before it was killed, nobody else knows of until it is read: the rows are looked at again. */
async function rowsWith(store: SharedStore, counted: Counted): Promise<readonly CountedRow[]> {
  const end = performance.now() + LATE_ROWS_MILLIS;
  for (;;) {
    const rows = await store.rows();
    if (sharedVerdict(counted, rows).lost.length === 0 || performance.now() > end) return rows;
    await pause(500);
  }
}
