import assert from "node:assert/strict";
import { test } from "node:test";
import { dataModels, refusedModel, schemaName } from "../../core/ngsi/index.js";
import { namingOf } from "../../core/sql/contract/schema.js";
import { RowBuilder } from "../../core/sql/row-builder.js";
import { freeSchema, freeTable } from "../../core/sql/rows/admission.js";
import type { RdbConfig } from "../../plugins/rdb-sink/config.js";
import { mysql } from "../../plugins/rdb-sink/mysql/dialect.js";
import { postgresql } from "../../plugins/rdb-sink/postgresql/dialect.js";
import { sqlite } from "../../plugins/rdb-sink/sqlite/dialect.js";
import { fileName } from "../../plugins/rdb-sink/sqlite/file-name.js";
import { fixed, onEveryDatabase, persist } from "../plugins/rdb-sink/on-every-database.js";
import { configOf, entity, eventOf, never } from "../plugins/rdb-sink/sinks.js";
import { standardPostgresql } from "../plugins/rdb-sink/standard-postgresql.js";
import { v2Attribute, v2Event } from "../plugins/rdb-sink/v2-events.js";
import { at } from "../support/position.js";
import { recordingLog } from "../support/recording-log.js";

// First: the others keep this process from answering a server in time.
await onEveryDatabase("tables of the agent", [
  {
    name: "an entity that is named like the table of positions or the list of tables gets another table",
    service: "attacked",
    run: async (place, service) => {
      const { sink } = await place.sink();
      const before = { events: [eventOf(entity("urn:a:1", { a: "1" }), service)], position: at(`${service}:1`) };
      await sink.persist(before, never);

      for (const id of ["deneb_positions", "deneb_tables"])
        await persist({ sink, lines: [] }, eventOf(entity(id, { deneb_position: `${service}:9` }), service));

      assert.ok((await sink.positions.stored(never)).includes(`${service}:1`));
      assert.ok(!(await sink.positions.stored(never)).includes(`${service}:9`));
      assert.deepEqual(await place.rows(service, "_deneb_positions"), [
        { ...fixed("deneb_positions"), deneb_position: `${service}:9` },
      ]);
    },
  },
  {
    name: "a suffix of last data makes no table of the agent",
    service: "suffixed",
    run: async (place, service) => {
      const sink = await place.sink({ last_data_mode: "both", last_data_table_suffix: "_positions" });

      await persist(sink, eventOf(entity("deneb", { a: "1" }), service));

      assert.equal((await place.rows(service, "_deneb_positions")).length, 1);
    },
  },
]);

const dialects = { PostgreSQL: postgresql, MySQL: mysql, SQLite: sqlite, "a standard dialect": standardPostgresql };
const services = [
  "deneb",
  "DENEB",
  "Deneb",
  "mysql",
  "Sys",
  "pg_catalog",
  "information_schema",
  "template1",
  "default",
];
const names = [
  "positions",
  "deneb",
  "deneb_positions",
  "DENEB_tables",
  "deneb:positions",
  "deneb.tables",
  `deneb_${"x".repeat(80)}`,
  "",
];
const suffixes = ["_last_data", "_positions", "_TABLES"];
const ownedByServers = {
  postgresql: /^(pg_.*|information_schema)$/,
  mysql: /^(information_schema|mysql|sys|performance_schema)$/i,
  sqlite: /^(pg_.*|information_schema)$/,
};
const longest = { postgresql: 63, mysql: 64, sqlite: 64 };

for (const [dialectName, dialect] of Object.entries(dialects))
  for (const data_model of dataModels) {
    if (refusedModel(data_model, dialect.database) !== undefined) continue;
    for (const enable_encoding of [false, true])
      test(`no hostile name reaches a table of the agent on ${dialectName}, ${data_model}, enable_encoding = ${enable_encoding}`, () => {
        let placed = 0;
        for (const last_data_table_suffix of suffixes)
          for (const { schema, database, table } of namesBy(dialect, {
            data_model,
            enable_encoding,
            last_data_table_suffix,
          })) {
            placed += 1;
            assert.doesNotMatch(table, /^deneb_/i);
            assert.doesNotMatch(schema, /^deneb$/i);
            assert.doesNotMatch(database, /^deneb$/i);
            assert.doesNotMatch(schema, ownedByServers[dialect.database]);
            if (dialect.database === "postgresql") assert.doesNotMatch(database, /^template[01]$/);
            assert.ok(Buffer.byteLength(table) <= longest[dialect.database], table);
          }
        assert.ok(placed > 100, String(placed));
      });
  }

const foldings = [
  { name: "deneb", schema: "_deneb" },
  { name: "DeNeB", schema: "_DeNeB" },
  { name: "dénéb", schema: "_dénéb" },
  { name: "ｄｅｎｅｂ", schema: "_ｄｅｎｅｂ" },
  { name: "de\u200bneb", schema: "_de\u200bneb" },
  { name: "deneb ", schema: "_deneb " },
  { name: "deneb2", schema: "deneb2" },
  { name: "_deneb", schema: "_deneb" },
] as const;
for (const { name, schema } of foldings)
  test(`events for schema ${JSON.stringify(name)} go to ${JSON.stringify(schema)}`, () =>
    assert.equal(freeSchema({ database: "", schema: name }, postgresql).schema, schema));

test("a reserved name that is as long as a name may be is shortened, not cut by the database", () => {
  const table = `deneb_${"x".repeat(57)}`;

  const free = freeTable({ database: "", schema: "s", table }, postgresql);

  assert.equal(free.table.length, 63);
  assert.match(free.table, /^_deneb_x+_[0-9a-f]{8}$/);
});

const fileServices = [
  "..",
  ".",
  "/",
  "../ledger.json",
  "dead-letters",
  "ledger.json",
  "a/../b",
  "%2e%2e%2f",
  "C:\\x",
  "x.db-wal",
  "é/",
];
for (const enable_encoding of [false, true])
  test(`no service reaches a file of the agent or another folder, enable_encoding = ${enable_encoding}`, () => {
    const config = configOf({ enable_encoding });
    const naming = namingOf(config, "sqlite");
    for (const service of fileServices) {
      const file = fileName(schemaName({ service, servicePath: "/", api: "ld" }, naming));
      assert.match(file, /^[^/\\]+\.db$/, service);
    }
  });

/** Where the events of all hostile names go. */
function namesBy(dialect: (typeof dialects)[keyof typeof dialects], more: Partial<RdbConfig>) {
  const config = configOf({ ...more, last_data_mode: "both" });
  const context = { name: "sink", log: recordingLog().log, dataDir: "", run: "run", now: () => new Date(0) };
  const parts = { naming: namingOf(config, dialect.database), dialect, context, services: { note: () => undefined } };
  const intake = new RowBuilder(config, parts);
  return services.flatMap((service) =>
    names.flatMap((name) =>
      [`/${name}`, "/deneb"].flatMap((servicePath) => {
        const v2 = { id: name, type: name, api: "v2", attributes: [v2Attribute(name || "a", "Text", "1")] } as const;
        const events = [
          v2Event({ ...v2, type: name.slice(0, 5) }, service, { servicePath }),
          v2Event(v2, service, { servicePath }),
          eventOf({ ...entity(name, { [name]: "1" }), type: name }, service),
        ];
        return events.flatMap((event) => {
          try {
            return intake.tables([event]).map((table) => table.name);
          } catch (error) {
            // A data model may have nothing to name a table after.
            assert.match(String(error), /naming the (table|schema)/);
            return [];
          }
        });
      }),
    ),
  );
}
