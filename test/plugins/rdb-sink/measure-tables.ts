/**
 * Measures what many tables of entities cost beside one table of their type, in PostgreSQL: `node
 * dist/test/plugins/rdb-sink/measure-tables.js [ENTITIES...]`. A person runs it; nothing is asserted.
 */
import { postgresqlDatabase } from "../../support/postgresql.js";
import { entity, eventOf, never, sinkOf } from "./sinks.js";

const ATTRIBUTES = { temperature: "21.5", humidity: "40", name: "room", since: "2024-01-01T00:00:00Z" };
const EVENTS_PER_WRITE = 1000;

async function measure(entities: number, data_model: string, views: boolean): Promise<void> {
  const server = await postgresqlDatabase();
  if (server === undefined) throw new Error("PostgreSQL is not reachable");
  const { host, port, user, password, database, query } = server;
  const at = { rdb_host: host, rdb_port: port, rdb_username: user, rdb_password: password, rdb_database: database };
  const { sink } = sinkOf({ ...at, data_model, views }, () => new Date());
  const events = Array.from({ length: entities }, (_, number) => eventOf(entity(`urn:e:${number}`, ATTRIBUTES), "s"));
  const write = async () => {
    const from = performance.now();
    for (let start = 0; start < entities; start += EVENTS_PER_WRITE)
      await sink.persist({ events: events.slice(start, start + EVENTS_PER_WRITE) }, never);
    return (performance.now() - from) / 1000;
  };
  const first = await write();
  const again = await write();
  const from = performance.now();
  await sink.flush();
  const settled = (performance.now() - from) / 1000;
  const [size] = await query("SELECT pg_database_size(current_database()) / 1048576 mb");
  const latest = await timeOf(views, () => query("SELECT count(*) FROM s.deneb_latest_t"));
  const one = await timeOf(views, () => query("SELECT * FROM s.deneb_latest_t WHERE entityid = 'urn:e:7'"));
  await sink.stop(never);
  await server.drop();
  const rows = [first, again, settled].map((seconds) => seconds.toFixed(2));
  process.stdout.write(
    `${entities} entities, ${data_model}: first write ${rows[0]} s, next ${rows[1]} s, facts and views ${rows[2]} s, ` +
      `${size?.["mb"]} MiB, latest of all ${latest} ms, of one ${one} ms\n`,
  );
}

async function timeOf(wanted: boolean, work: () => Promise<unknown>): Promise<string> {
  if (!wanted) return "-";
  const from = performance.now();
  await work();
  return (performance.now() - from).toFixed(0);
}

const counts = process.argv.slice(2).map(Number);
for (const entities of counts.length === 0 ? [100, 500, 5000] : counts)
  for (const model of ["dm-by-entity", "dm-by-entity-type"])
    await measure(entities, model, model === "dm-by-entity-type" || entities <= 500);
