import type { QueryResult } from "deneb/sdk";
import type { ServerAddress } from "deneb/sql";
import type pg from "pg";
import type { RdbConfig } from "../config.js";
import {
  type DatabaseKind,
  givenOptions,
  millisOf,
  type ServerOptions,
  type ServerSettings,
  serverAddress,
  serverSettings,
  sslModes,
  timeFault,
  unknownOptions,
} from "../server.js";
import { withClient } from "./client.js";
import { postgresql } from "./dialect.js";
import { postgresqlProbes } from "./probes.js";
import { PostgresqlServer } from "./server.js";
import { statementLimit } from "./transaction-settings.js";

const defaults = { port: 5432, username: "postgres" } as const;

const optionNames = new Set([
  "sslmode",
  "ssl",
  "sslrootcert",
  "sslcert",
  "sslkey",
  "connecttimeout",
  "sockettimeout",
  "applicationname",
  "currentschema",
]);

export const postgresqlDatabase: DatabaseKind = {
  dialect: postgresql,
  optionNames,
  options: postgresqlOptions,
  server: addressOf,
  open: (config, context) => ({
    dialect: postgresql,
    driver: new PostgresqlServer(settings(config)),
    server: addressOf(config),
    probes: (examiner, next) =>
      postgresqlProbes({ config, context, settings: settings(config), server: addressOf(config), examiner, next }),
  }),
  query: async (config, text) => await postgresqlQuery(settings(config), text),
};

function addressOf(config: RdbConfig): ServerAddress {
  return serverAddress(config, defaults);
}

function settings(config: RdbConfig): ServerSettings {
  return serverSettings(config, defaults, postgresqlOptions(config.rdb_options));
}

/** Runs one statement in a read-only transaction on a separate connection. */
async function postgresqlQuery(settings: ServerSettings, text: string): Promise<QueryResult> {
  return await withClient(settings, async (client) => {
    await client.query("BEGIN READ ONLY");
    await client.query("SELECT set_config('statement_timeout', $1, true)", [String(statementLimit(settings))]);
    const { searchPath } = settings.options;
    if (searchPath !== undefined) await client.query("SELECT set_config('search_path', $1, true)", [searchPath]);
    const { fields, rows } = await client.query<(string | null)[]>(question(text));
    return {
      columns: fields.map(({ name }) => name),
      rows: rows.map((row) => row.map((cell) => cell ?? undefined)),
    };
  });
}

function question(text: string): pg.QueryArrayConfig {
  const asText = { getTypeParser: () => (value: string) => value };
  // The extended protocol accepts a single statement, so the text cannot end the read-only transaction and continue.
  const extended = { queryMode: "extended" };
  return { ...extended, text, rowMode: "array", types: asText };
}

const SECOND = 1000;

/** Parses options in the spelling of libpq or JDBC, separated by `&` or spaces, with the meaning of libpq. */
export function postgresqlOptions(text: string): ServerOptions {
  const options = givenOptions(text);
  const given = new Map(options.map(({ canonical, value }) => [canonical, value]));
  const mode = given.get("sslmode") ?? (given.get("ssl") === "true" ? "verify-full" : "prefer");
  const sslMode = sslModes.find((known) => known === mode.toLowerCase());
  const connect = given.get("connecttimeout");
  const statement = given.get("sockettimeout");
  return {
    sslMode: sslMode ?? "verify-full",
    sslRootCert: given.get("sslrootcert"),
    sslCert: given.get("sslcert"),
    sslKey: given.get("sslkey"),
    connectTimeoutMillis: millisOf(connect, SECOND),
    statementTimeoutMillis: millisOf(statement, SECOND),
    applicationName: given.get("applicationname"),
    searchPath: given.get("currentschema"),
    unknown: unknownOptions(options, optionNames),
    faults: [
      ...(sslMode === undefined ? [`sslmode "${mode}" is not one of ${sslModes.join(", ")}`] : []),
      ...timeFault("connect_timeout", connect, "seconds"),
      ...timeFault("socketTimeout", statement, "seconds"),
    ],
  };
}
