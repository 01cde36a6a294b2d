import { lowerCase } from "deneb/ngsi";
import type { Context } from "deneb/sdk";
import type { ServerAddress, TableName } from "deneb/sql";
import type { RdbConfig } from "../config.js";
import {
  type DatabaseKind,
  givenOptions,
  millisOf,
  type ServerOptions,
  type ServerSettings,
  type SslMode,
  serverAddress,
  serverSettings,
  timeFault,
  unknownOptions,
} from "../server.js";
import { MysqlBookkeepingDatabase } from "./bookkeeping-database.js";
import { mysqlQuery } from "./connection.js";
import { mysql } from "./dialect.js";
import { MysqlDriver, type NamesWatch } from "./driver.js";
import { mistaken } from "./mistaken-columns.js";
import { mysqlProbes } from "./probes.js";
import { WITHOUT_CASE } from "./server-facts.js";
import { mysqlViews } from "./views.js";

const defaults = { port: 3306, username: "root" } as const;

const optionNames = new Set([
  "sslmode",
  "usessl",
  "requiressl",
  "verifyservercertificate",
  "sslrootcert",
  "sslcert",
  "sslkey",
  "connecttimeout",
  "sockettimeout",
  "applicationname",
]);

export const mysqlDatabase: DatabaseKind = {
  dialect: mysql,
  optionNames,
  options: mysqlOptions,
  server: addressOf,
  open: (config, context) => {
    const { rdb_bookkeeping_database: database, rdb_database: configured } = config;
    const bookkeepingDatabase = new MysqlBookkeepingDatabase({ database, configured });
    const driver = new MysqlDriver(
      settings(config),
      config.enable_lowercase === true ? undefined : namesWatch(context),
    );
    const columnKey = (column: string) => driver.columnRules.keyOf(column);
    const allowed = (name: TableName) => (driver.keepsLowerCase ? inLowerCase(name) : name);
    return {
      dialect: {
        ...mysql,
        columnKey,
        allowed,
        mistaken: (column, keys) => mistaken(column, keys, driver.columnRules),
        views: mysqlViews(columnKey),
        positionsTable: () => allowed(bookkeepingDatabase.table("deneb_positions")),
        deadLettersTable: () => allowed(bookkeepingDatabase.table("deneb_letters")),
      },
      bookkeepingDatabase,
      driver,
      server: addressOf(config),
      probes: (examiner, next) =>
        mysqlProbes({ config, context, settings: settings(config), server: addressOf(config), examiner, next }),
    };
  },
  query: async (config, text) => await mysqlQuery(settings(config), text),
};

function addressOf(config: RdbConfig): ServerAddress {
  return serverAddress(config, defaults);
}

function namesWatch({ log }: Pick<Context, "log">): NamesWatch {
  return () =>
    log.warn(
      { lower_case_table_names: WITHOUT_CASE },
      "the server takes names that differ in letter case only for one: set enable_lowercase = true, or services and tables are mixed unnoticed, and rows are not found again to export, to erase or to delete when they are old",
    );
}

/** Names of databases and tables have no letters but those of ASCII. */
function inLowerCase({ database, schema, table }: TableName): TableName {
  return { database: lowerCase(database), schema: lowerCase(schema), table: lowerCase(table) };
}

function settings(config: RdbConfig): ServerSettings {
  return serverSettings(config, defaults, mysqlOptions(config.rdb_options));
}

const SECOND = 1000;

/** Parses options with the spelling and meaning of Connector/J, or of libpq for certificates and connect_timeout. */
export function mysqlOptions(text: string): ServerOptions {
  const options = givenOptions(text);
  const given = new Map(options.map(({ canonical, value }) => [canonical, value]));
  const mode = given.get("sslmode") ?? modeOfFlags(given);
  const sslMode = modes.get(mode.toLowerCase().replaceAll("_", "-"));
  const connect = options.find(({ canonical }) => canonical === "connecttimeout");
  const statement = given.get("sockettimeout");
  // libpq counts in seconds, Connector/J in milliseconds.
  const [unit, unitName] =
    connect?.name.includes("_") === true ? ([SECOND, "seconds"] as const) : ([1, "milliseconds"] as const);
  return {
    sslMode: sslMode ?? "verify-full",
    sslRootCert: given.get("sslrootcert"),
    sslCert: given.get("sslcert"),
    sslKey: given.get("sslkey"),
    connectTimeoutMillis: millisOf(connect?.value, unit),
    statementTimeoutMillis: millisOf(statement, 1),
    applicationName: given.get("applicationname"),
    searchPath: undefined,
    unknown: unknownOptions(options, optionNames),
    faults: [
      ...(sslMode === undefined ? [`sslMode "${mode}" is not one of ${[...modes.keys()].join(", ")}`] : []),
      ...timeFault(connect?.name ?? "", connect?.value, unitName),
      ...timeFault("socketTimeout", statement, "milliseconds"),
    ],
  };
}

/** useSSL without requireSSL connects without TLS if the server has none. */
function modeOfFlags(given: ReadonlyMap<string, string>): string {
  if (given.get("usessl") === "false") return "disabled";
  if (given.get("verifyservercertificate") === "true") return "verify-ca";
  return given.get("requiressl") === "true" ? "required" : "preferred";
}

const modes: ReadonlyMap<string, SslMode> = new Map([
  ["disabled", "disable"],
  ["preferred", "prefer"],
  ["required", "require"],
  ["verify-ca", "verify-ca"],
  ["verify-identity", "verify-full"],
  ["disable", "disable"],
  ["allow", "allow"],
  ["prefer", "prefer"],
  ["require", "require"],
  ["verify-full", "verify-full"],
]);
