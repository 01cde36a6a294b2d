import type { RdbConfig } from "./config.js";
import { mysql } from "./dialects/mysql.js";
import { MysqlDriver } from "./drivers/mysql.js";
import { mysqlOptions } from "./drivers/mysql-options.js";
import { mysqlQuery } from "./drivers/mysql-query.js";
import type { ServerSettings } from "./drivers/server-settings.js";
import { OwnPlace } from "./own-place.js";
import { placeOf, settingsOf } from "./server-place.js";
import { storeError } from "./store-error.js";
import type { StoreKind } from "./store-kind.js";

const usual = { port: 3306, username: "root" } as const;

export const mysqlStore: StoreKind = {
  options: mysqlOptions,
  open: (config) => {
    const ownPlace = new OwnPlace({ database: config.rdb_bookkeeping_database, configured: config.rdb_database });
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
