import { definePlugin } from "deneb/sdk";
import { explainSql, querySql, sqlFaults, sqlSink, storedData } from "deneb/sql";
import { duckdbSchema } from "./config.js";
import { duckdb } from "./dialect.js";
import { storeOf } from "./store.js";

export default definePlugin({
  apiVersion: 1,
  kind: "sink",
  type: "duckdb",
  summary: "Stores each entity as a row in one file of DuckDB.",
  stability: "beta",
  config: duckdbSchema,
  check: (config) => sqlFaults(config, duckdb),
  create: (config, context) => sqlSink(config, context, storeOf(config)),
  query: (config, text) => querySql(text, storeOf(config)),
  data: async (config, context) => storedData(config, context, storeOf(config)),
  explain: (config, event, context) => explainSql(config, event, { context, store: storeOf(config) }),
});
