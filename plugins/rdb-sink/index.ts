import { definePlugin } from "deneb/sdk";
import { explainSql, sqlSink, storedData } from "deneb/sql";
import { rdbConfig } from "./config.js";
import { databases, queryDatabase, rdbCertificates, rdbFaults } from "./databases.js";
import type { DatabaseKind } from "./server.js";
import { rdbAliases, rdbSpellings } from "./spellings.js";

export default definePlugin({
  kind: "sink",
  type: "rdb",
  aliases: rdbAliases,
  spellings: rdbSpellings,
  summary: "Stores each entity of a notification as a row of a relational database: PostgreSQL, MySQL or SQLite files.",
  stability: "stable",
  workers: ({ rdb_dialect }) =>
    rdb_dialect === "sqlite"
      ? { one: "has an embedded database (rdb_dialect = sqlite), which one process writes" }
      : "each",
  config: rdbConfig,
  check: rdbFaults,
  certificates: rdbCertificates,
  create: (config, context) => sqlSink(config, context, databases[config.rdb_dialect].open(config, context)),
  query: queryDatabase,
  explain: (config, event, context) =>
    explainSql(config, event, { context, store: databases[config.rdb_dialect].open(config, context) }),
  data: async (config, context) => {
    const database: DatabaseKind = databases[config.rdb_dialect];
    await database.mustBeThere?.(config, context);
    return storedData(config, context, database.open(config, context));
  },
});
