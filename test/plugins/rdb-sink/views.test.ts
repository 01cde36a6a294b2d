import assert from "node:assert/strict";
import { after, test } from "node:test";
import { SqlStoredData } from "../../../core/sql/features/stored-data/stored-data.js";
import type { RdbConfig } from "../../../plugins/rdb-sink/config.js";
import { databases, rdbFaults } from "../../../plugins/rdb-sink/databases.js";
import { postgresqlDatabase } from "../../support/postgresql.js";
import { recordingLog } from "../../support/recording-log.js";
import { configOf, type eventOf, never, sinkOf } from "./sinks.js";
import { v2Attribute, v2Entity, v2Event } from "./v2-events.js";

const server = await postgresqlDatabase();
after(() => server?.drop());
const skip = server === undefined ? "PostgreSQL is not reachable" : false;

async function storing(service: string, config: Partial<RdbConfig> = {}) {
  if (server === undefined) throw new Error("PostgreSQL is not reachable");
  const { host, port, user, password, database, query } = server;
  const at = { rdb_host: host, rdb_port: port, rdb_username: user, rdb_password: password, rdb_database: database };
  const { sink, lines } = sinkOf({ ...at, views: true, ...config });
  return {
    lines,
    stop: () => sink.stop(never),
    query,
    listed: async (table: string) => {
      const full = configOf({ ...at, views: true });
      const { log } = recordingLog();
      const context = { name: "sink", log, dataDir: "", run: "run", now: () => new Date(0) };
      const data = new SqlStoredData(full, context, databases.postgresql.open(full, context));
      const tables = await data.tables({ tables: [table] }, never);
      await data.close();
      return tables;
    },
    store: async (...events: readonly ReturnType<typeof eventOf>[]) => {
      await sink.persist({ events }, never);
      await sink.flush();
    },
    rows: (view: string, columns = "*", rest = "") =>
      query(`SELECT ${columns} FROM "${service}"."${view}" AS v ${rest}`),
  };
}

const at = (later: number, service: string, id: string, ...more: Parameters<typeof v2Entity>[1][]) =>
  v2Event(v2Entity(id, ...more), service, { later });

test("a view has the rows of all entities of a type, typed, and NULL where a text does not fit", { skip }, async () => {
  const made = await storing("typed");
  await made.store(
    at(0, "typed", "a", v2Attribute("temp", "Number", 21.5), v2Attribute("name", "Text", "n")),
    at(
      1000,
      "typed",
      "b",
      v2Attribute("temp", "Number", 7),
      v2Attribute("since", "DateTime", "2024-02-29T12:00:00+02"),
    ),
  );
  await made.store(
    at(2000, "typed", "a", v2Attribute("temp", "Text", "broken"), v2Attribute("since", "Text", "2023-02-29T10:00:00Z")),
  );

  const rows = await made.rows(
    "deneb_all_t",
    "entityid, temp, name, since, since AT TIME ZONE 'UTC' AS utc, pg_typeof(temp) t, pg_typeof(since) s",
    "ORDER BY deneb_time",
  );
  const latest = await made.rows("deneb_latest_t", "entityid, temp", "ORDER BY entityid");
  const tidy = await made.rows(
    "deneb_tidy_t",
    "entityid, attribute, value_number, value_text",
    "WHERE attribute = 'temp' ORDER BY deneb_time",
  );
  await made.stop();

  assert.deepEqual(
    rows.map(({ entityid, temp, name }) => [entityid, temp, name]),
    [
      ["a", "21.5", "n"],
      ["b", "7", null],
      ["a", null, null],
    ],
  );
  assert.deepEqual(rows.map(({ t, s }) => [t, s])[0], ["numeric", "timestamp with time zone"]);
  assert.match(rows[1]?.["utc"] ?? "", /^2024-02-29.10:00:00/);
  assert.equal(rows[2]?.["since"], null);
  assert.deepEqual(
    latest.map(({ entityid, temp }) => [entityid, temp]),
    [
      ["a", null],
      ["b", "7"],
    ],
  );
  assert.deepEqual(
    tidy.map(({ value_number: n, value_text: t }) => [n, t]),
    [
      ["21.5", "21.5"],
      ["7", "7"],
      [null, "broken"],
    ],
  );
});

for (const type of ["integer", "numeric(4, 2)", "double precision"])
  test(`a column ${type} of somebody else beside texts shows the numbers of both`, { skip }, async () => {
    const service = `beside_${type.replaceAll(/\W+/g, "_")}`;
    const made = await storing(service);
    await made.query(`CREATE SCHEMA "${service}"`);
    await made.query(
      `CREATE TABLE "${service}".a_t (recvtime text, fiwareservicepath text, entityid text, entitytype text, temp ${type})`,
    );
    await made.store(
      at(0, service, "a", v2Attribute("temp", "Number", 21)),
      at(1000, service, "b", v2Attribute("temp", "Number", 123456.5)),
    );

    const rows = await made.rows("deneb_all_t", "temp::float8::text AS temp", "ORDER BY deneb_time");
    await made.stop();

    assert.deepEqual(
      rows.map(({ temp }) => temp),
      ["21", "123456.5"],
    );
  });

test("views grow with new tables and columns, and readers never miss them", { skip }, async () => {
  const made = await storing("growing");
  await made.store(at(0, "growing", "a", v2Attribute("temp", "Number", 1)));
  let reading = true;
  const reads = (async () => {
    let count = 0;
    for (; reading; count += 1) await made.rows("deneb_latest_t", "entityid");
    return count;
  })();
  for (let number = 0; number < 5; number += 1)
    await made.store(at(number, "growing", `x${number}`, v2Attribute(`a${number}`, "Number", number)));
  reading = false;

  assert.ok((await reads) > 0);
  const [row] = await made.rows("deneb_latest_t", "a4, temp", "WHERE entityid = 'x4'");
  await made.stop();
  assert.deepEqual({ ...row }, { a4: "4", temp: null });
  assert.deepEqual(
    made.lines.filter(({ level }) => level === "warn" || level === "error"),
    [],
  );
});

test("a view keeps its rights and the order of its columns over a restart", { skip }, async () => {
  const first = await storing("kept");
  await first.store(at(0, "kept", "a", v2Attribute("b", "Number", 1)));
  await first.query("GRANT SELECT ON kept.deneb_all_t TO pg_monitor");
  await first.stop();
  const second = await storing("kept");
  await second.store(at(1, "kept", "a", v2Attribute("a", "Number", 2)));
  await second.stop();

  const columns = await second.query(
    "SELECT attname FROM pg_attribute WHERE attrelid = 'kept.deneb_all_t'::regclass ORDER BY attnum",
  );
  const rights = await second.query("SELECT has_table_privilege('pg_monitor', 'kept.deneb_all_t', 'SELECT') r");
  assert.deepEqual(
    columns.map(({ attname }) => attname).filter((name) => !String(name).endsWith("_md")),
    ["deneb_time", "recvtime", "fiwareservicepath", "entityid", "entitytype", "b", "a"],
  );
  assert.equal(rights[0]?.["r"], "t");
});

test("a column whose latest values are texts becomes text, with the rights on its views", { skip }, async () => {
  const role = `deneb_seeing_${process.pid}`;
  const first = await storing("changing");
  const temp = (later: number, type: "Number" | "Text", value: number | string) =>
    at(later, "changing", "a", v2Attribute("temp", type, value), v2Attribute("n", "Number", later));
  await first.store(...[1, 2, 3].map((later) => temp(later, "Number", later)));
  await first.query(`CREATE ROLE ${role}`);
  await first.query(`GRANT SELECT ON changing.deneb_latest_t TO ${role} WITH GRANT OPTION`);
  await first.stop();
  const types = "temp, pg_typeof(temp) t, pg_typeof(n) n";

  const once = await storing("changing");
  await once.store(temp(4, "Text", "warm"));
  await once.stop();
  const kept = await once.rows("deneb_all_t", types, "ORDER BY deneb_time");
  const later = await storing("changing");
  await later.store(...[5, 6, 7].map((number) => temp(number, "Text", "warm")));
  await later.stop();
  const text = await later.rows("deneb_all_t", types, "ORDER BY deneb_time");
  const [granted] = await later.query(
    `SELECT has_table_privilege('${role}', 'changing.deneb_latest_t', 'SELECT WITH GRANT OPTION') AS has`,
  );
  await later.query(`DROP OWNED BY ${role}`);
  await later.query(`DROP ROLE ${role}`);

  assert.deepEqual(
    kept.map((row) => [row["temp"], row["t"]]),
    [...["1", "2", "3"].map((value) => [value, "numeric"]), [null, "numeric"]],
  );
  assert.deepEqual(
    text.map((row) => [row["temp"], row["t"], row["n"]]),
    ["1", "2", "3", "warm", "warm", "warm", "warm"].map((value) => [value, "text", "numeric"]),
  );
  assert.deepEqual(granted, { has: "t" });
});

test("a view that another one reads keeps its type, and the log says so", { skip }, async () => {
  const first = await storing("read");
  await first.store(at(1, "read", "a", v2Attribute("temp", "Number", 1)));
  await first.query("CREATE VIEW read.mine AS SELECT temp FROM read.deneb_latest_t");
  await first.stop();

  const made = await storing("read");
  await made.store(...[2, 3].map((later) => at(later, "read", "a", v2Attribute("temp", "Text", "warm"))));
  const rows = await made.rows("mine", "temp");
  await made.stop();

  assert.deepEqual(rows, [{ temp: null }]);
  assert.match(made.lines.find(({ level }) => level === "warn")?.message ?? "", /keeps a type that its latest values/);
});

test("types and attributes with quotes, backslashes and SQL are names and nothing else", { skip }, async () => {
  const type = String.raw`O'x\'); DROP SCHEMA hostile CASCADE; --`;
  const made = await storing("hostile");
  const attributes = [v2Attribute(String.raw`'); DROP --\" $1`, "Number", 1), v2Attribute("deneb_time", "Text", "x")];
  await made.store(v2Event({ ...v2Entity("e", ...attributes), type }, "hostile"));
  const views = await made.query("SELECT viewname FROM pg_views WHERE schemaname = 'hostile' ORDER BY 1");
  const name = String(views[2]?.["viewname"]);
  const tidy = await made.rows(name, "entitytype, value_text", "ORDER BY value_text");
  await made.stop();

  assert.equal(views.length, 3);
  assert.ok(name.startsWith("deneb_tidy_"), name);
  assert.deepEqual(
    tidy.map((row) => Object.values(row)),
    [
      [type, "1"],
      [type, "x"],
    ],
  );
});

test("types that end in one name have views of their own, and the first one keeps its name", { skip }, async () => {
  const made = await storing("twins");
  const of = (type: string, later: number) =>
    v2Event({ ...v2Entity(`e${later}`, v2Attribute("a", "Number", 1)), type }, "twins", { later });
  await made.store(of("Room", 0));
  await made.store(of("ROOM", 1), of("https://x.org/types#Room", 2));
  const views = await made.query("SELECT viewname FROM pg_views WHERE schemaname = 'twins' AND viewname ~ '_all_'");
  const rows = await made.rows("deneb_all_room", "entitytype");
  await made.stop();

  assert.equal(views.length, 3);
  assert.deepEqual(
    rows.map(({ entitytype }) => entitytype),
    ["Room"],
  );
});

test("the row layout has its tidy view, and latest has one row for each attribute", { skip }, async () => {
  const made = await storing("rowed", { attr_persistence: "row" });
  await made.store(
    at(0, "rowed", "a", v2Attribute("p", "Number", 1), v2Attribute("q", "Text", "x")),
    at(1, "rowed", "a", v2Attribute("p", "Number", 2)),
  );
  const latest = await made.rows("deneb_latest_t", "attrname, attrvalue", "ORDER BY attrname");
  const tidy = await made.rows("deneb_tidy_t", "attribute, value_number", "ORDER BY deneb_time, attribute");
  await made.stop();

  assert.deepEqual(
    latest.map((row) => Object.values(row)),
    [
      ["p", "2"],
      ["q", "x"],
    ],
  );
  assert.deepEqual(
    tidy.map((row) => Object.values(row)),
    [
      ["p", "1"],
      ["q", null],
      ["p", "2"],
    ],
  );
});

test("where there are tables of last data, the latest rows are theirs", { skip }, async () => {
  const made = await storing("lasting", { last_data_mode: "both" });
  await made.store(at(0, "lasting", "a", v2Attribute("p", "Number", 1), v2Attribute("q", "Text", "x")));
  await made.store(at(1000, "lasting", "a", v2Attribute("p", "Number", 2)));
  const latest = await made.rows("deneb_latest_t", "entityid, p, q");
  const all = await made.rows("deneb_all_t", "p");
  await made.stop();

  assert.deepEqual(
    latest.map((row) => Object.values(row)),
    [["a", "2", "x"]],
  );
  assert.equal(all.length, 2);
});

test("a type of more than 500 tables has no view, and a warning says what to do", { skip }, async () => {
  const made = await storing("many");
  const events = Array.from({ length: 501 }, (_, number) =>
    at(number, "many", `e${number}`, v2Attribute("p", "Number", 1)),
  );
  const views = async () => {
    const [row] = await made.query("SELECT count(*) n FROM pg_views WHERE schemaname = 'many'");
    return row?.["n"];
  };
  await made.store(...events.slice(1));
  const before = await views();
  const latest = await made.rows("deneb_latest_t", "count(*) n");
  await made.store(...events.slice(0, 1));
  const later = await views();
  await made.stop();
  const [listed] = await made.listed("many.e1_t");

  assert.deepEqual([before, latest[0]?.["n"], later], ["3", "500", "0"]);
  assert.match(listed?.note ?? "", /^no views: type "T" has 501 tables, and views are made of at most 500; data_model/);
  assert.match(made.lines.find(({ level }) => level === "warn")?.message ?? "", /too many tables for a view/);
});

test("a database that refuses views does not hinder rows", { skip }, async () => {
  const made = await storing("refusing");
  await made.store(at(0, "refusing", "a", v2Attribute("p", "Number", 1)));
  await made.query("DROP VIEW refusing.deneb_all_t CASCADE");
  await made.query("CREATE TABLE refusing.deneb_all_t (x text)");
  await made.store(at(1, "refusing", "a", v2Attribute("q", "Number", 1)));
  const rows = await made.rows("a_t");
  await made.stop();

  assert.equal(rows.length, 2);
  assert.match(made.lines.find(({ level }) => level === "warn")?.message ?? "", /views are not up to date/);
});

const refused = [
  {
    config: { rdb_dialect: "sqlite" },
    says: /^views = "true" is not offered by a dialect for "sqlite"; use false, or/,
  },
  { config: { data_model: "dm-by-service-path" }, says: /data_model is "dm-by-service-path": use dm-by-entity or/ },
  { config: { data_model: "DMByServicePath" }, says: /data_model is "dm-by-service-path": use dm-by-entity or/ },
] as const;

for (const { config, says } of refused)
  test(`views are a fault with ${JSON.stringify(config)}`, () => {
    const faults = rdbFaults(configOf({ views: true, ...config }));

    assert.match(faults[0]?.reason ?? "", says);

    assert.deepEqual(
      faults.map(({ property }) => property),
      ["views"],
    );
  });

test("two sinks that make the same views at the same time both get them", { skip }, async () => {
  const [one, other] = [await storing("raced"), await storing("raced")];
  const numbers = Array.from({ length: 6 }, (_, number) => number);
  await Promise.all(
    numbers.map((number) =>
      (number % 2 === 0 ? one : other).store(
        at(number, "raced", `e${number}`, v2Attribute(`a${number}`, "Number", number)),
      ),
    ),
  );
  await one.store(at(10, "raced", "last", v2Attribute("last", "Number", 1)));
  const rows = await one.rows("deneb_latest_t", "entityid, a0, a5, last");
  await one.stop();
  await other.stop();

  assert.equal(rows.length, 7);
});

test("a user without the right to alter the list of tables stores rows, and makes no views", { skip }, async () => {
  const owner = await storing("restricted");
  await owner.store(at(0, "restricted", "a", v2Attribute("p", "Number", 1)));
  const role = `deneb_restricted_${process.pid}`;
  await owner.query(`DROP VIEW restricted.deneb_tidy_t, restricted.deneb_latest_t, restricted.deneb_all_t`);
  for (const column of ["data_model", "entity_type", "service", "service_path", "last_write"])
    await owner.query(`ALTER TABLE deneb.tables DROP COLUMN ${column} CASCADE`);
  await owner.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`);
  await owner.query(`GRANT USAGE ON SCHEMA deneb, restricted TO ${role}`);
  await owner.query(`GRANT ALL ON ALL TABLES IN SCHEMA deneb, restricted TO ${role}`);
  const made = await storing("restricted", { rdb_username: role, rdb_password: "secret", exactly_once: false });
  await made.store(at(1, "restricted", "a", v2Attribute("p", "Number", 2)));
  await made.stop();
  const rows = await made.rows("a_t");
  await owner.stop();
  await owner.query(`DROP OWNED BY ${role}`);
  await owner.query(`DROP ROLE ${role}`);

  assert.equal(rows.length, 2);
  assert.deepEqual(
    made.lines.filter(({ level }) => level === "warn").map(({ message }) => message),
    ["facts about tables are not listed, will be tried again", "views are not up to date, will be tried again"],
  );
});
