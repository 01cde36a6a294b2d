import { storeError } from "deneb/sql";
import type { RdbConfig } from "../config.js";
import type { DatabaseKind } from "../database.js";
import { type ServerSettings, serverAddress, serverSettings } from "../server.js";
import { MysqlBookkeepingDatabase } from "./bookkeeping-database.js";
import { mysql } from "./dialect.js";
import { MysqlDriver } from "./driver.js";
import { mysqlOptions } from "./options.js";
import { mysqlQuery } from "./query.js";

const defaults = { port: 3306, username: "root" } as const;

export const mysqlDatabase: DatabaseKind = {
  options: mysqlOptions,
  open: (config) => {
    const { rdb_bookkeeping_database: database, rdb_database: configured } = config;
    const bookkeepingDatabase = new MysqlBookkeepingDatabase({ database, configured });
    return {
      dialect: {
        ...mysql,
        positionsTable: () => bookkeepingDatabase.table("deneb_positions"),
        deadLettersTable: () => bookkeepingDatabase.table("deneb_letters"),
      },
      bookkeepingDatabase,
      driver: new MysqlDriver(settings(config)),
      server: serverAddress(config, defaults),
      ignoredOptions: settings(config).options.unknown,
    };
  },
  query: async (config, text) => {
    try {
      return await mysqlQuery(settings(config), text);
    } catch (error) {
      throw storeError(error, mysql.errors, serverAddress(config, defaults));
    }
  },
};

function settings(config: RdbConfig): ServerSettings {
  return serverSettings(config, defaults, mysqlOptions(config.rdb_options));
}
