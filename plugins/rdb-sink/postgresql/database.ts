import { storeError } from "deneb/sql";
import type { RdbConfig } from "../config.js";
import type { StoreKind } from "../database.js";
import { placeOf, type ServerSettings, settingsOf } from "../server.js";
import { postgresql } from "./dialect.js";
import { postgresqlOptions } from "./options.js";
import { postgresqlQuery } from "./query.js";
import { PostgresqlServer } from "./server.js";

const usual = { port: 5432, username: "postgres" } as const;

export const postgresqlStore: StoreKind = {
  options: postgresqlOptions,
  open: (config) => ({
    dialect: postgresql,
    driver: new PostgresqlServer(settings(config)),
    place: placeOf(config, usual),
    ignoredOptions: settings(config).options.unknown,
  }),
  query: async (config, text) => {
    try {
      return await postgresqlQuery(settings(config), text);
    } catch (error) {
      throw storeError(error, postgresql.faults, placeOf(config, usual));
    }
  },
};

function settings(config: RdbConfig): ServerSettings {
  return settingsOf(config, usual, postgresqlOptions(config.rdb_options));
}
