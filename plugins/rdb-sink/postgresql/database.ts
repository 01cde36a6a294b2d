import { storeError } from "deneb/sql";
import type { RdbConfig } from "../config.js";
import type { DatabaseKind } from "../database.js";
import { type ServerSettings, serverAddress, serverSettings } from "../server.js";
import { postgresql } from "./dialect.js";
import { postgresqlOptions } from "./options.js";
import { postgresqlQuery } from "./query.js";
import { PostgresqlServer } from "./server.js";

const defaults = { port: 5432, username: "postgres" } as const;

export const postgresqlDatabase: DatabaseKind = {
  options: postgresqlOptions,
  open: (config) => ({
    dialect: postgresql,
    driver: new PostgresqlServer(settings(config)),
    server: serverAddress(config, defaults),
    ignoredOptions: settings(config).options.unknown,
  }),
  query: async (config, text) => {
    try {
      return await postgresqlQuery(settings(config), text);
    } catch (error) {
      throw storeError(error, postgresql.errors, serverAddress(config, defaults));
    }
  },
};

function settings(config: RdbConfig): ServerSettings {
  return serverSettings(config, defaults, postgresqlOptions(config.rdb_options));
}
