import type { Context } from "deneb/sdk";
import { type ServerAddress, storeError } from "deneb/sql";
import type { RdbConfig } from "../config.js";
import type { DatabaseKind } from "../database.js";
import { postgresqlOptions } from "../postgresql/options.js";
import { sqlite } from "./dialect.js";
import { SqliteDriver } from "./driver.js";
import { sqliteQuery } from "./query.js";

export const sqliteDatabase: DatabaseKind = {
  // SQLite has no connection options.
  options: postgresqlOptions,
  open: (config, context) => ({
    dialect: sqlite,
    driver: new SqliteDriver(folderOf(config, context)),
    server: serverAddress(config, context),
    ignoredOptions: [],
  }),
  query: async (config, text, context) => {
    try {
      return await sqliteQuery(folderOf(config, context), text);
    } catch (error) {
      throw storeError(error, sqlite.errors, serverAddress(config, context));
    }
  },
};

function folderOf(config: RdbConfig, context: Context): string {
  return config.rdb_folder === "" ? context.dataDir : config.rdb_folder;
}

function serverAddress(config: RdbConfig, context: Context): ServerAddress {
  return { address: folderOf(config, context), database: "", username: "", options: "" };
}
