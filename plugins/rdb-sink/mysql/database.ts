import { storeError } from "deneb/sql";
import type { RdbConfig } from "../config.js";
import type { DatabaseKind } from "../database.js";
import { type ServerSettings, serverAddress, serverSettings } from "../server.js";
import { mysql } from "./dialect.js";
import { MysqlDriver } from "./driver.js";
import { mysqlOptions } from "./options.js";
import { MysqlOwnPlace } from "./own-place.js";
import { mysqlQuery } from "./query.js";

const defaults = { port: 3306, username: "root" } as const;

export const mysqlDatabase: DatabaseKind = {
  options: mysqlOptions,
  open: (config) => {
    const ownPlace = new MysqlOwnPlace({ database: config.rdb_bookkeeping_database, configured: config.rdb_database });
    return {
      dialect: {
        ...mysql,
        positionsTable: () => ownPlace.table("deneb_positions"),
        lettersTable: () => ownPlace.table("deneb_letters"),
      },
      ownPlace,
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
