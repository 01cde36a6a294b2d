import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { oneSinkLines } from "../../crash/one-sink-lines.js";
import { type AgentProcess, startAgent } from "../../support/agent-process.js";
import { mysqlServer } from "../../support/mysql.js";
import { postEntities } from "../../support/post-entities.js";
import { postgresqlDatabase } from "../../support/postgresql.js";
import { tempFolder } from "../../support/temp-folder.js";
import { until } from "../../support/until.js";

interface Scene {
  readonly service: string;
  readonly lines: readonly string[];
  readonly views: () => Promise<readonly string[]>;
  /** Holds up who makes the second view, until the returned function is called. */
  hinder(): Promise<() => Promise<void>>;
}

const SECOND = "deneb_latest_room";
const VIEWS = "SELECT table_name AS name FROM information_schema.views WHERE table_schema";
const namesOf = (rows: readonly Readonly<Record<string, string | null>>[]) =>
  rows.map(({ name }) => String(name)).toSorted();

const places = {
  PostgreSQL: async (context: TestContext): Promise<Scene | undefined> => {
    const database = await postgresqlDatabase();
    if (database === undefined) return undefined;
    context.after(() => database.drop());
    const { query } = database;
    return {
      service: "svc",
      lines: oneSinkLines(database, "file"),
      views: async () => namesOf(await query(`${VIEWS} = 'svc'`)),
      hinder: async () => {
        await query(`CREATE TABLE svc.${SECOND} (x text)`);
        await query("BEGIN");
        await query(`LOCK TABLE svc.${SECOND} IN ACCESS EXCLUSIVE MODE`);
        return async () => {
          await query(`DROP TABLE svc.${SECOND}`);
          await query("COMMIT");
        };
      },
    };
  },
  MySQL: async (context: TestContext): Promise<Scene | undefined> => {
    const [server, holder] = [await mysqlServer(), await mysqlServer()];
    if (server === undefined || holder === undefined) return undefined;
    context.after(async () => {
      await holder.drop();
      await server.drop();
    });
    const service = `${server.prefix}svc`;
    const lines = oneSinkLines({ ...server, database: service }, "file");
    return {
      service,
      lines: [
        ...lines.filter((line) => !line.includes("rdb_options")),
        "deneb.sinks.s.rdb_dialect = mysql",
        "deneb.sinks.s.enable_lowercase = true",
      ],
      views: async () => namesOf(await server.query(`${VIEWS} = '${service}'`)),
      hinder: async () => {
        await holder.query(`CREATE TABLE ${service}.${SECOND} (x text)`);
        await holder.query(`LOCK TABLES ${service}.${SECOND} WRITE`);
        return async () => {
          await holder.query(`DROP TABLE ${service}.${SECOND}`);
          await holder.query("UNLOCK TABLES");
        };
      },
    };
  },
} as const;

async function post(agent: AgentProcess, service: string, type: string): Promise<void> {
  await postEntities(agent, [{ id: "urn:a:1", type, value: { type: "Property", value: 1 } }], service);
}

for (const [name, place] of Object.entries(places))
  test(`an agent that is killed between the views of a type in ${name} leaves them to the next one`, async (context) => {
    const made = await place(context);
    if (made === undefined) return context.skip(`${name} is not reachable`);
    const { service, lines, views, hinder } = made;
    const folder = await tempFolder(context);
    const setup = { properties: [...lines, "deneb.sinks.s.views = true"].join("\n"), folder };
    const killed = await startAgent(context, setup);
    await post(killed, service, "House");
    await until(views, (names) => names.length === 3);
    const release = await hinder();
    await post(killed, service, "Room");
    await until(views, (names) => names.includes("deneb_all_room"));
    await killed.end("SIGKILL");
    const left = await views();
    await release();

    const next = await startAgent(context, setup);
    await post(next, service, "Room");
    await until(views, (names) => names.length === 6);
    await next.end("SIGTERM");

    const ofRoom = (names: readonly string[]) => names.filter((view) => view.endsWith("_room"));
    assert.deepEqual(ofRoom(left), ["deneb_all_room"]);
    assert.deepEqual(ofRoom(await views()), ["deneb_all_room", "deneb_latest_room", "deneb_tidy_room"]);
  });
