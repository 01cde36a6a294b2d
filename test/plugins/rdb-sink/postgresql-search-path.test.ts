import assert from "node:assert/strict";
import { after, test } from "node:test";
import { storedData } from "../../../core/sql/index.js";
import { databases } from "../../../plugins/rdb-sink/databases.js";
import { postgresqlDatabase } from "../../support/postgresql.js";
import { recordingLog } from "../../support/recording-log.js";
import { probed, troubles } from "./probes.js";
import { configOf, entity, eventOf, never, receivedAt, sinkOf } from "./sinks.js";

const database = await postgresqlDatabase();
after(() => database?.drop());
const skip = database === undefined ? "PostgreSQL is not reachable" : false;

// What anybody with the right to create in the schema `public` can put there, as before PostgreSQL 15 every user: functions and
// operators for other arguments than those of the server, which fit better where a statement has just these.
const FUNCTIONS = [
  "format(text, text, text, text)",
  "format(text, name, name)",
  "concat_ws(text, text, text)",
  "quote_ident(name)",
  "obj_description(oid, text)",
  "array_to_string(text[], text)",
  "replace(varchar, text, text)",
  "strpos(varchar, text)",
  "pg_typeof(timestamptz)",
];
const TRAP = `
  CREATE FUNCTION trap(what text) RETURNS boolean LANGUAGE plpgsql AS $$
  BEGIN RAISE EXCEPTION 'trapped by %', what; END $$;
  DO $do$
  DECLARE types text[] := array['name', 'oid', 'regclass', 'regtype', 'int4', 'float4', 'numeric', 'varchar', 'text'];
    l text; r text; o text; f text;
  BEGIN
    FOREACH f IN ARRAY array[${FUNCTIONS.map((one) => `'${one}'`).join(", ")}] LOOP
      EXECUTE 'CREATE FUNCTION public.' || f || ' RETURNS text AS $$ SELECT public.trap(''' || f || ''')::text $$ LANGUAGE sql';
    END LOOP;
    FOREACH l IN ARRAY types LOOP FOREACH r IN ARRAY types LOOP
      f := 'public.on_' || l || '_' || r;
      EXECUTE 'CREATE FUNCTION ' || f || '(' || l || ', ' || r || ') RETURNS boolean AS $$ SELECT public.trap(''' || f || ''') $$ LANGUAGE sql';
      FOREACH o IN ARRAY array['=', '<', '>=', '<>', '~', '!~'] LOOP
        IF NOT EXISTS (SELECT FROM pg_operator WHERE oprname = o::name AND oprleft = l::regtype::oid AND oprright = r::regtype::oid) THEN
          EXECUTE 'CREATE OPERATOR public.' || o || ' (LEFTARG = ' || l || ', RIGHTARG = ' || r || ', FUNCTION = ' || f || ')';
        END IF;
      END LOOP;
    END LOOP; END LOOP;
  END $do$`;

test("no function or operator runs that another user of the database has made", { skip }, async () => {
  if (database === undefined) return;
  const { host, port, user, password, query } = database;
  for (const statement of TRAP.split(/;\n(?= {2}DO)/)) await query(statement);
  const place = {
    rdb_host: host,
    rdb_port: port,
    rdb_username: user,
    rdb_password: password,
    rdb_database: database.database,
  };
  const now = () => new Date(receivedAt);
  const id = `urn:${"x".repeat(80)}`;
  const config = configOf({ ...place, last_data_mode: "both", views: true, attr_native_types: true });
  const log = recordingLog();
  const context = { name: "sink", log: log.log, dataDir: "", run: "run", now };
  const { sink, lines } = sinkOf(config, now);
  const partitioned = configOf({ ...config, partition: "day", indexes: true, retention_days: 1 });
  const events = [eventOf(entity(id, { a: "1" }), "trapped"), eventOf(entity("urn:y", { a: "1" }), "trapped")];

  await sink.persist({ events }, never);
  await query("ALTER TABLE trapped.urn_y ADD COLUMN seen timestamptz DEFAULT now()");
  await sink.sweep();
  await sink.stop(never);
  const data = storedData(partitioned, context, databases.postgresql.open(partitioned, context));
  const tables = (await data.tables?.({}, never)) ?? [];
  const histories = tables.filter(({ kind }) => kind === "history").map(({ name }) => name);
  const results = (await data.partition?.(histories, false, never)) ?? [];
  const second = sinkOf(partitioned, now);
  await second.sink.persist({ events }, never);
  await second.sink.sweep();
  await second.sink.stop(never);
  let exported = 0;
  for await (const table of data.rows?.({}, never) ?? []) for await (const page of table.rows) exported += page.length;
  const erasure = await data.erase?.({ entity: id }, false, never);
  await data.close();
  const probes = await probed(config);

  assert.deepEqual(
    results.map(({ outcome }) => outcome),
    ["done", "done"],
  );
  assert.deepEqual(
    { exported, left: erasure?.left, troubles: troubles(probes) },
    { exported: 6, left: [], troubles: [] },
  );
  const told = [...lines, ...second.lines, ...log.lines].filter((line) => JSON.stringify(line).includes("trapped by"));
  assert.deepEqual(told, []);
});

test("columns have the types of the server where a schema before them has domains of these names", {
  skip,
}, async () => {
  if (database === undefined) return;
  const { host, port, user, password, query } = database;
  await query("CREATE SCHEMA typed; CREATE DOMAIN typed.text AS pg_catalog.varchar(3)");
  await query("CREATE DOMAIN typed.timestamptz AS pg_catalog.text; CREATE DOMAIN typed.jsonb AS pg_catalog.text");
  await query(`ALTER ROLE CURRENT_USER IN DATABASE "${database.database}" SET search_path = typed, pg_catalog`);
  const place = { rdb_host: host, rdb_port: port, rdb_username: user, rdb_password: password };
  const config = {
    ...place,
    rdb_database: database.database,
    last_data_mode: "both",
    attr_native_types: true,
  } as const;
  const { sink } = sinkOf(configOf({ ...config, indexes: true }), () => new Date(receivedAt));

  await sink.persist({ events: [eventOf(entity("car", { a: "longer than three" }), "domains")] }, never);
  await sink.persist({ events: [eventOf(entity("car", { b: "longer than three" }), "domains")] }, never);
  await sink.stop(never);

  const of = "FROM information_schema.columns WHERE table_schema IN ('domains', 'deneb') AND domain_name IS NOT NULL";
  assert.deepEqual(await query(`SELECT table_name, column_name, domain_name ${of}`), []);
  assert.deepEqual(await query("SELECT a, b FROM domains.car ORDER BY a"), [
    { a: "longer than three", b: null },
    { a: null, b: "longer than three" },
  ]);
});
