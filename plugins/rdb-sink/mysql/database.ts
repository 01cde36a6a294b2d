import { storeError } from "deneb/sql";
import type { RdbConfig } from "../config.js";
import type { StoreKind } from "../database.js";
import { placeOf, type ServerSettings, settingsOf } from "../server.js";
import { mysql } from "./dialect.js";
import { MysqlDriver } from "./driver.js";
import { mysqlOptions } from "./options.js";
import { MysqlOwnPlace } from "./own-place.js";
import { mysqlQuery } from "./query.js";

const usual = { port: 3306, username: "root" } as const;

export const mysqlStore: StoreKind = {
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
      place: placeOf(config, usual),
      ignoredOptions: settings(config).options.unknown,
    };
  },
  query: async (config, text) => {
    try {
      return await mysqlQuery(settings(config), text);
    } catch (error) {
      throw storeError(error, mysql.faults, placeOf(config, usual));
    }
  },
};

function settings(config: RdbConfig): ServerSettings {
  return settingsOf(config, usual, mysqlOptions(config.rdb_options));
}
