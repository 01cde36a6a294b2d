import type { RdbConfig } from "./config.js";
import { postgresql } from "./dialects/postgresql.js";
import { postgresqlOptions } from "./drivers/postgresql-options.js";
import { postgresqlQuery } from "./drivers/postgresql-query.js";
import { PostgresqlServer } from "./drivers/postgresql-server.js";
import type { ServerSettings } from "./drivers/server-settings.js";
import { placeOf, settingsOf } from "./server-place.js";
import { storeError } from "./store-error.js";
import type { StoreKind } from "./store-kind.js";

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
