import type { KindTexts, NamedTexts } from "./kind-texts.js";

/** A sink over deneb/sql that stores rows in one SQLite file. */
export const sqlSinkTexts: KindTexts = ({ id, typeId, type }): NamedTexts => ({
  does: "stores each entity as a row in one SQLite file, the tables of all services together.",
  example: [
    `agent.sinks.${type}.type = ${type}`,
    `agent.sinks.${type}.channel = test-channel`,
    `agent.sinks.${type}.file = entities.db`,
  ],
  guarantees: [
    "A batch is stored as a whole or not at all.",
    "Data model, layout, last data and retention are chosen as for the rdb sink; the `-database` data models are refused.",
    "A table is named `service:table`, where the rdb sink makes a file for each service.",
    "The agent waits while SQLite writes: for much load use the rdb sink, which has a thread for that.",
  ],
  dependencies: ["libsql"],
  sources: {
    index: `import { definePlugin } from "deneb/sdk";
import { explainSql, querySql, sqlFaults, sqlSink, storedData } from "deneb/sql";
import { ${id}Schema } from "./config.js";
import { ${id} } from "./dialect.js";
import { storeOf } from "./store.js";

export default definePlugin({
  apiVersion: 1,
  kind: "sink",
  type: "${type}",
  summary: "Stores each entity as a row in one SQLite file.",
  stability: "beta",
  config: ${id}Schema,
  check: (config) => sqlFaults(config, ${id}),
  create: (config, context) => sqlSink(config, context, storeOf(config)),
  query: (config, text) => querySql(text, storeOf(config)),
  data: async (config, context) => storedData(config, context, storeOf(config)),
  explain: (config, event, context) => explainSql(config, event, { context, store: storeOf(config) }),
});
`,
    config: `«import type { ConfigOf, Schema } from "deneb/sdk";
»import { sqlSchema } from "deneb/sql";

export const ${id}Schema = {
  ...sqlSchema,
  file: { doc: "File of the database. Its folder must exist.", format: "text" },
}« as const satisfies Schema»;
«
export type ${typeId}Config = ConfigOf<typeof ${id}Schema>;
»`,
    dialect: `import { booleanCell, «type Dialect, »errorPatterns, quoted, standardDialect«, type TableName» } from "deneb/sql";

// A file of SQLite has no schemas: what would be one stands before the table, and no name holds a colon.
const nameOf = ({ schema, table }«: TableName») => \`\${schema}:\${table}\`;

const standard = standardDialect({
  types: {
    text: "text",
    longtext: "text",
    integer: "bigint",
    number: "double",
    boolean: "boolean",
    time: "datetime",
    json: "json text",
    other: "text",
  },
  kinds: [
    [/json/i, "json"],
    [/^$|text/i, "text"],
    [/int/i, "integer"],
    [/bool/i, "boolean"],
    [/date/i, "time"],
    [/doub/i, "number"],
  ],
  cells: { boolean: booleanCell("1", "0") },
  rowId: "rowid",
  readTime: (column) => \`strftime('%Y-%m-%d %H:%M:%f', \${column})\`,
  path: (name) => quoted(nameOf(name)),
  errors: errorPatterns({
    name: "SQLite",
    missing: /no such (table|column)|has no column named/,
    raced: /duplicate column name|already exists/,
    refused: /^SQLITE_(TOOBIG|MISMATCH|CONSTRAINT)|too many columns/,
  }),
});

/** All services in one file. SQLite has no information_schema either. */
export const ${id}«: Dialect» = {
  ...standard,
  createSchema: () => [],
  catalogue: (tables) =>
    tables.map((at) => ({
      at,
      text: "SELECT '', ?, ?, name, type FROM pragma_table_info(?)",
      runs: [[at.schema, at.table, nameOf(at)]],
    })),
  tablesWith: (columns, units) =>
    units.map((at) => ({
      at,
      text: \`
        SELECT '', substr(t.name, 1, instr(t.name, ':') - 1), substr(t.name, instr(t.name, ':') + 1), c.name, c.type
        FROM sqlite_master t JOIN pragma_table_info(t.name) c
        WHERE t.type = 'table' AND lower(c.name) IN (\${columns.map(() => "lower(?)").join(", ")})\`,
      runs: [columns],
    })),
};
`,
    store: `import { access } from "node:fs/promises";
import { oneConnection«, type Store» } from "deneb/sql";
import Database from "libsql";
«import type { ${typeId}Config } from "./config.js";
»import { ${id} } from "./dialect.js";

/** The file: how it speaks, the way to it, and what it is called in messages. */
export function storeOf({ file }«: ${typeId}Config»)«: Store» {
  const driver = oneConnection({
    open: async (_signal, purpose) => {
      // A query makes no file.
      if (purpose === "query") await access(file);
      const connection = new Database(file);
      if (purpose === "query") connection.exec("PRAGMA query_only = on");
      return connection;
    },
    run: async (connection, text, parameters) => {
      const statement = connection.prepare(text);
      const values = parameters.map((cell) => cell ?? null);
      if (!statement.reader) {
        statement.run(...values);
        return [];
      }
      return textsOf(statement.raw().all(...values));
    },
    ask: async (connection, text) => {
      const statement = connection.prepare(text);
      const columns = statement.columns().map(({ name }) => name);
      return { columns, rows: textsOf(statement.safeIntegers().raw().all()) };
    },
    close: async (connection) => {
      connection.close();
    },
    // Another writer is waited for here, not in the middle.
    begin: "BEGIN IMMEDIATE",
  });
  return { dialect: ${id}, driver, server: { address: file, database: "", username: "", options: "" } };
}

function textsOf(rows«: readonly unknown[]»)«: readonly (readonly (string | undefined)[])[]» {
  return rows.map((row) => (Array.isArray(row) ? row.map(textOf) : []));
}

function textOf(value«: unknown»)«: string | undefined» {
  return value === null || value === undefined ? undefined : String(value);
}
`,
    conformance: `import { join } from "node:path";
«import type { Event } from "deneb/sdk";
import type { PluginSetup } from "deneb/sdk/testing";
»import Database from "libsql";

/** How the conformance suites test this plugin; \`deneb plugin test\` reads it, too. */
export const setup«: PluginSetup» = {
  config: (folder) => ({ file: join(folder, "entities.db") }),
  async openStore(folder) {
    const file = join(folder, "entities.db");
    return {
      config: { file },
      readBack: async () => marksIn(file),
      unreachable: { file: join(folder, "no-such-folder", "entities.db") },
      poisoned: withNul,
      close: async () => {},
    };
  },
};

function marksIn(file«: string»)«: readonly string[]» {
  const connection = new Database(file);
  const texts = (text«: string») => connection.prepare(text).pluck().all().map(String);
  const tables = texts(
    "SELECT t.name FROM sqlite_master t JOIN pragma_table_info(t.name) c WHERE t.type = 'table' AND c.name = 'mark'",
  );
  const marks = tables.flatMap((table) => texts(\`SELECT mark FROM "\${table}" WHERE mark IS NOT NULL ORDER BY rowid\`));
  connection.close();
  return marks;
}

/** A text that no database keeps. */
function withNul({ headers, body }«: Event»)«: Event» {
  const text«: unknown» = JSON.parse(JSON.stringify(body).replace('"text":"', '"text":"\\\\u0000'));
  return { headers, body: text };
}
`,
  },
  agentTest: `import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { sampleNotifications, testAgent } from "deneb/sdk/testing";
import Database from "libsql";
import plugin from "./index.js";

test("an agent stores each entity of a notification as a row", async (context) => {
  const folder = await mkdtemp(join(tmpdir(), "${type}-"));
  context.after(() => rm(folder, { recursive: true }));
  const file = join(folder, "entities.db");
  const sinks = { mine: { type: "${type}", file, data_model: "dm-by-entity-type" } };
  const agent = await testAgent({ plugins: [plugin], config: { sinks } });
  context.after(() => agent.stop());

  await agent.inject(sampleNotifications.ld);
  await agent.settled();

  const rows = new Database(file).prepare('SELECT temperature FROM "openiot:room" ORDER BY recvtime').raw().all();
  assert.equal(rows.length, 2);
  assert.deepEqual(await agent.deadLetters(), []);
});
`,
});
