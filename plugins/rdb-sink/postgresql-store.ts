import type { RdbConfig } from "./config.js";
import { postgresql } from "./dialects/postgresql.js";
import { PostgresqlDriver, type PostgresqlSettings } from "./drivers/postgresql.js";
import { postgresqlOptions } from "./drivers/postgresql-options.js";
import { postgresqlQuery } from "./drivers/postgresql-query.js";
import type { Place } from "./faults.js";
import type { StoreKind } from "./store.js";
import { storeError } from "./store-error.js";

export const postgresqlStore: StoreKind = {
  open: (config) => ({
    dialect: postgresql,
    driver: new PostgresqlDriver(settingsOf(config)),
    place: placeOf(config),
    ignoredOptions: postgresqlOptions(config.rdb_options).unknown,
  }),
  query: async (config, text) => {
    try {
      return await postgresqlQuery(settingsOf(config), text);
    } catch (error) {
      throw storeError(error, postgresql.faults, placeOf(config));
    }
  },
};

function settingsOf(config: RdbConfig): PostgresqlSettings {
  return {
    host: config.rdb_host,
    port: config.rdb_port,
    database: config.rdb_database,
    username: config.rdb_username,
    password: config.rdb_password,
    options: postgresqlOptions(config.rdb_options),
    mostConnections: config.rdb_maxPoolSize,
    mostIdle: config.rdb_maxPoolIdle,
    leastIdle: config.rdb_minPoolIdle,
    idleMillis: config.rdb_minPoolIdleTimeMillis,
    connectTimeoutMillis: config.rdb_connect_timeout,
    statementTimeoutMillis: config.rdb_statement_timeout,
  };
}

function placeOf(config: RdbConfig): Place {
  return {
    address: `${config.rdb_host}:${config.rdb_port}`,
    database: config.rdb_database,
    username: config.rdb_username,
    options: config.rdb_options,
  };
}
