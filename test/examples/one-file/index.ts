import { definePlugin } from "deneb/sdk";
import { explainSql, querySql, sqlFaults, sqlSink, storedData } from "deneb/sql";
import { oneFileSchema } from "./config.js";
import { oneFile } from "./dialect.js";
import { storeOf } from "./store.js";

export default definePlugin({
  apiVersion: 1,
  kind: "sink",
  type: "one-file",
  summary: "Stores each entity as a row in one SQLite file.",
  stability: "beta",
  config: oneFileSchema,
  check: (config) => sqlFaults(config, oneFile),
  create: (config, context) => sqlSink(config, context, storeOf(config)),
  query: (config, text) => querySql(text, storeOf(config)),
  data: async (config, context) => storedData(config, context, storeOf(config)),
  explain: (config, event, context) => explainSql(config, event, { context, store: storeOf(config) }),
});
