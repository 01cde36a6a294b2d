import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { runHere } from "../support/run-cli.js";
import { tempFolder } from "../support/temp-folder.js";
import { writeFiles } from "../support/written-files.js";

const properties = `
a.sources = s
a.channels = c1 c2
a.sinks = pg files
a.sources.s.type = http
a.sources.s.port = 5050
a.sources.s.channels = c1 c2
a.sources.s.handler = ngsi
a.sources.s.handler.notification_target = /here
a.channels.c1.type = memory
a.channels.c2.type = memory
a.sinks.pg.type = rdb
a.sinks.pg.channel = c1
a.sinks.pg.rdb_port = 1
a.sinks.pg.rdb_password = hidden
a.sinks.files.type = rdb
a.sinks.files.channel = c2
a.sinks.files.rdb_dialect = sqlite
`;

const notification = JSON.stringify({
  id: "urn:ngsi-ld:Notification:1",
  type: "Notification",
  data: [
    {
      id: "Room:1",
      type: "Room",
      Level: { type: "Property", value: "high" },
      level: { type: "Property", value: 2 },
      unitCode: { type: "Property", value: "CEL" },
    },
    { id: "room2", type: "Room", level: { type: "Property", value: "it's" } },
  ],
});

async function explained(context: TestContext, more: readonly string[], files: Readonly<Record<string, string>> = {}) {
  const folder = await tempFolder(context);
  await writeFiles(folder, { "a.properties": properties, "note.json": notification, ...files });
  const at = (name: string) => path.join(folder, name);
  const flags = ["--config", at("a.properties"), "--data-dir", at("data"), "--header", "Fiware-Service: OpenIoT"];
  const result = await runHere(["explain", ...flags, ...more, at("note.json")]);
  return { ...result, left: (await readdir(folder)).sort() };
}

test("explain shows channels, tables, columns, SQL, parameters and changed names, and touches no database", async (context) => {
  const { code, stdout, stderr, left } = await explained(context, []);

  assert.equal(code, 0, stderr);
  const suffixed = /level_[0-9a-f]{8}/.exec(stdout)?.[0] ?? "no suffix";
  const lines = stdout.split("\n").map((line) => line.trim());
  for (const line of [
    "event 1 of source s, to c1, c2",
    "sink pg (rdb)",
    "sink files (rdb)",
    "schema openiot, table room_1",
    'CREATE SCHEMA IF NOT EXISTS "openiot"',
    `CREATE TABLE IF NOT EXISTS "openiot"."room_1" ("recvtime" pg_catalog.text, "entityid" pg_catalog.text, "entitytype" pg_catalog.text, "${suffixed}" pg_catalog.text, "level" pg_catalog.text, "unitcode" pg_catalog.text)`,
    'note: service "OpenIoT" is schema "openiot"',
    'note: table name "Room:1" is table "room_1"',
    `note: "Level" is column "${suffixed}"; column "level" is that of another name`,
    'note: "unitCode" is column "unitcode"',
    "event 2 of source s, to c1, c2",
  ])
    assert.ok(lines.includes(line), `${line}\n${stdout}`);
  assert.match(stdout, /VALUES \(\$1, \$2, \$3, \$4\)\n {4}\["[^"]+","room2","Room","it's"\]/);
  assert.doesNotMatch(stdout, /hidden/);
  assert.deepEqual(left, ["a.properties", "note.json"]);
});

test("explain needs no password, also where its variable is not set", async (context) => {
  const unset = properties.replace("= hidden", "= ${env:DENEB_TEST_UNSET}");

  const { code, stdout, stderr } = await explained(context, [], { "a.properties": unset });

  assert.equal(code, 0, stderr);
  assert.match(stderr, /^warning: .*DENEB_TEST_UNSET" is not set/);
  assert.match(stdout, /schema openiot, table room_1/);
});

test("explain --json holds the same as data", async (context) => {
  const { code, stdout } = await explained(context, ["--json"]);

  assert.equal(code, 0);
  const events: unknown[] = JSON.parse(stdout);
  const second = Object(events[1]);
  assert.deepEqual([events.length, second.source, second.channels], [2, "s", ["c1", "c2"]]);
  const [pg, files] = second.sinks;
  assert.deepEqual([pg.sink, files.sink], ["pg", "files"]);
  const [write] = pg.explanation.writes;
  assert.deepEqual([write.destination.schema, write.destination.table], ["openiot", "room2"]);
  assert.equal(write.rows[0].at(-1), "it's");
  assert.match(files.explanation.statements.at(-1).text, /VALUES \(\?, \?, \?, \?\)$/);
});

test("explain of a body that is no notification fails with the reason of the handler", async (context) => {
  const { code, stdout, stderr } = await explained(context, [], { "note.json": "{" });

  assert.deepEqual([code, stdout], [1, ""]);
  assert.match(stderr, /^deneb: ./);
});

const changed = (...lines: readonly string[]) => ({ "a.properties": [properties, ...lines].join("\n") });
const notesOf = (stdout: string) => [...stdout.matchAll(/^ {2}note: (.*)$/gm)].map(([, note]) => note);

test("explain shows a row of the row layout, and that metadata are omitted", async (context) => {
  const files = changed(
    "a.sources.s.channels = c1",
    "a.sinks.pg.attr_persistence = row",
    "a.sinks.pg.attr_metadata_store = false",
  );
  const level = { type: "Property", value: 2, unitCode: "CEL" };
  const data = [{ id: "room2", type: "Room", Level: level }];
  const note = JSON.stringify({ id: "urn:n", type: "Notification", data });

  const { code, stdout } = await explained(context, [], { ...files, "note.json": note });

  assert.equal(code, 0);
  assert.deepEqual(notesOf(stdout), [
    'service "OpenIoT" is schema "openiot"',
    'each attribute is a row of its own: its name stands in column "attrname", its value in "attrvalue"',
    "metadata are not stored: attr_metadata_store = false",
  ]);
});

const lastData = [
  {
    mode: "both",
    tables: ["room2", "room2_last_data"],
    notes: [
      'service "OpenIoT" is schema "openiot"',
      'table name "room2" is table "room2_last_data"',
      'table "room2_last_data" keeps one row for each "entityid"; a row changes it when its "recvtime" is newer',
    ],
  },
  {
    mode: "upsert",
    tables: ["room2_last_data"],
    notes: [
      'service "OpenIoT" is schema "openiot"',
      'table name "room2" is table "room2_last_data"',
      'table "room2_last_data" keeps one row for each "entityid"; a row changes it when its "recvtime" is newer',
      "no row of history is added: last_data_mode = upsert",
    ],
  },
] as const;
for (const { mode, tables, notes } of lastData)
  test(`explain shows the rows of last data and their meaning, mode ${mode}`, async (context) => {
    const files = changed("a.sources.s.channels = c1", `a.sinks.pg.last_data_mode = ${mode}`);
    const data = [{ id: "room2", type: "Room", level: { type: "Property", value: 2 } }];
    const note = JSON.stringify({ id: "urn:n", type: "Notification", data });

    const { code, stdout } = await explained(context, [], { ...files, "note.json": note });

    assert.equal(code, 0);
    const shown = [...stdout.matchAll(/^ {2}schema openiot, table (.*)$/gm)].map(([, table]) => table);
    assert.deepEqual([shown, notesOf(stdout)], [tables, notes]);
  });

const alterations = [
  {
    alteration: "entityUpdate",
    notes: ['attribute "alterationType" says why the broker notifies and is not stored'],
  },
  {
    alteration: "entityDelete",
    notes: [
      '"alterationType" is column "alterationtype"',
      'the entity is removed: its row in table "r_room_last_data" is deleted',
    ],
  },
] as const;
for (const { alteration, notes: more } of alterations)
  test(`explain of an NGSI v2 entity shows its metadata column and what ${alteration} means`, async (context) => {
    const files = changed(
      "a.sources.s.channels = c1",
      "a.sources.s.handler.ngsi_version = v2",
      "a.sinks.pg.last_data_mode = both",
    );
    const temp = { type: "Number", value: 1, metadata: { unit: { type: "Text", value: "C" } } };
    const alterationType = { type: "Text", value: alteration, metadata: {} };
    const note = JSON.stringify({ subscriptionId: "s", data: [{ id: "r", type: "Room", Temp: temp, alterationType }] });

    const { code, stdout, stderr } = await explained(context, [], { ...files, "note.json": note });

    assert.equal(code, 0, stderr);
    const notes = notesOf(stdout);
    for (const expected of ['"Temp" is column "temp"', '"Temp_md" is column "temp_md"', ...more])
      assert.ok(notes.includes(expected), `${expected}\n${stdout}`);
  });

test("a sink that cannot explain an event is shown with the reason, as are the others", async (context) => {
  const data = [
    { id: "bad", type: "Room", level: { type: "Property", value: "a\0b" } },
    { id: "good", type: "Room", level: { type: "Property", value: 1 } },
  ];
  const note = JSON.stringify({ id: "urn:n", type: "Notification", data });
  const files = { ...changed("a.sinks.files.type = logger"), "note.json": note };

  const text = await explained(context, [], files);
  const json = await explained(context, ["--json"], files);

  assert.equal(text.code, 1);
  assert.match(text.stdout, /^sink pg \(rdb\): not explained: storing "level" of entity "bad": NUL/m);
  assert.match(text.stdout, /^sink files \(logger\): its plugin does not explain/m);
  assert.match(text.stdout, /^ {2}schema openiot, table good$/m);
  const [first]: readonly { readonly sinks: readonly Readonly<Record<string, unknown>>[] }[] = JSON.parse(json.stdout);
  assert.match(String(first?.sinks[0]?.["failure"]), /which no database keeps/);
});

const sinksOfOldFiles = [
  { sink: "NGSIPostgreSQLSink", table: "x002fxffffroom" },
  { sink: "NGSIPostgisSink", table: "x002fxffffx0052oom" },
] as const;
for (const { sink, table } of sinksOfOldFiles)
  test(`an old file with ${sink} and encoding goes on in the table by entity type that this sink made, ${table}`, async (context) => {
    const old = `
a.sources = s
a.channels = c
a.sinks = k
a.sources.s.type = org.apache.flume.source.http.HTTPSource
a.sources.s.port = 5050
a.sources.s.channels = c
a.sources.s.handler = com.telefonica.iot.cygnus.handlers.NGSIRestHandler
a.channels.c.type = memory
a.sinks.k.type = com.telefonica.iot.cygnus.sinks.${sink}
a.sinks.k.channel = c
a.sinks.k.data_model = dm-by-entity-type
a.sinks.k.enable_encoding = true
`;
    const data = [{ id: "Room1", type: "Room", level: { type: "Number", value: 1, metadata: {} } }];

    const { stdout } = await explained(context, ["--json"], {
      "a.properties": old,
      "note.json": JSON.stringify({ subscriptionId: "51c0ac9ed714fb3b37d7d5a8", data }),
    });

    const [event] = JSON.parse(stdout);
    assert.equal(event.sinks[0].explanation.writes[0].destination.table, table);
  });
