import { addressText, type Context, type QueryResult } from "deneb/sdk";
import type { Dialect, ServerAddress, Store } from "deneb/sql";
import type { RdbConfig } from "./config.js";

/** Defaults of a kind of server. */
interface ServerDefaults {
  readonly port: number;
  readonly username: string;
}

export function serverSettings(config: RdbConfig, defaults: ServerDefaults, options: ServerOptions): ServerSettings {
  return {
    host: config.rdb_host,
    port: portOf(config, defaults),
    database: config.rdb_database,
    username: usernameOf(config, defaults),
    password: config.rdb_password,
    options,
    mostConnections: config.rdb_maxPoolSize,
    mostIdle: config.rdb_maxPoolIdle,
    leastIdle: config.rdb_minPoolIdle,
    idleMillis: config.rdb_minPoolIdleTimeMillis,
    connectTimeoutMillis: config.rdb_connect_timeout,
    statementTimeoutMillis: config.rdb_statement_timeout,
  };
}

export function serverAddress(config: RdbConfig, defaults: ServerDefaults): ServerAddress {
  return {
    address: addressText(config.rdb_host, portOf(config, defaults)),
    database: config.rdb_database,
    username: usernameOf(config, defaults),
    options: config.rdb_options,
  };
}

function portOf({ rdb_port }: RdbConfig, defaults: ServerDefaults): number {
  return rdb_port === 0 ? defaults.port : rdb_port;
}

function usernameOf({ rdb_username }: RdbConfig, defaults: ServerDefaults): string {
  return rdb_username === "" ? defaults.username : rdb_username;
}

export const sslModes = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"] as const;

export type SslMode = (typeof sslModes)[number];

/** The parsed `rdb_options`; undefined where an option is absent. */
export interface ServerOptions {
  readonly sslMode: SslMode;
  readonly sslRootCert: string | undefined;
  readonly sslCert: string | undefined;
  readonly sslKey: string | undefined;
  readonly connectTimeoutMillis: number | undefined;
  /** The statement time-out. */
  readonly statementTimeoutMillis: number | undefined;
  readonly applicationName: string | undefined;
  /** The schemas of unqualified names in queries. */
  readonly searchPath: string | undefined;
  /** Names of unknown options. */
  readonly unknown: readonly string[];
  /** The faults of the other options. */
  readonly faults: readonly string[];
}

/** One option as written; options that differ only in case and `_` have the same canonical name. */
interface GivenOption {
  readonly name: string;
  readonly canonical: string;
  readonly value: string;
}

/** Splits a text at `&` and spaces; a leading `?` is ignored. */
export function givenOptions(text: string): readonly GivenOption[] {
  return text
    .replace(/^\s*\?/, "")
    .split(/[&\s]+/)
    .filter(Boolean)
    .map(given);
}

/** The names, as written, of options that are not among the known ones. */
export function unknownOptions(options: readonly GivenOption[], known: ReadonlySet<string>): readonly string[] {
  return options.filter(({ canonical }) => !known.has(canonical)).map(({ name }) => name);
}

/** The milliseconds of an option with this unit; undefined if it is not a whole number, which is a fault. */
export function millisOf(text: string | undefined, unit: number): number | undefined {
  return isCount(text) ? Number(text) * unit : undefined;
}

export function timeFault(name: string, text: string | undefined, unit: string): readonly string[] {
  return text === undefined || isCount(text) ? [] : [`${name} "${text}" is not a number of ${unit}`];
}

function isCount(text: string | undefined): text is string {
  return text !== undefined && /^\d+$/.test(text);
}

function given(option: string): GivenOption {
  const [name = "", ...value] = option.split("=");
  // connect_timeout and connectTimeout, application_name and ApplicationName are the same option.
  return { name, canonical: name.toLowerCase().replaceAll("_", ""), value: value.join("=") };
}

/** The settings of the connections to a database server. */
export interface ServerSettings {
  readonly host: string;
  readonly port: number;
  /** The database of the configuration; unused if schemas are databases. */
  readonly database: string;
  readonly username: string;
  readonly password: string;
  readonly options: ServerOptions;
  readonly mostConnections: number;
  readonly mostIdle: number;
  readonly leastIdle: number;
  /** 0 keeps idle connections open. */
  readonly idleMillis: number;
  readonly connectTimeoutMillis: number;
  /** 0 for no limit. */
  readonly statementTimeoutMillis: number;
}

/** A kind of database: what its folder exports. */
export interface DatabaseKind {
  readonly dialect: Pick<Dialect, "database" | "partitions" | "errors">;
  /** The options that it knows, in lower case and without `_`. */
  readonly optionNames: ReadonlySet<string>;
  /** Parses `rdb_options`. */
  options(text: string): ServerOptions;
  /** Where its rows go, for messages. */
  server(config: RdbConfig, context: Context): ServerAddress;
  /** Performs no I/O. */
  open(config: RdbConfig, context: Context): Store;
  /** Runs one statement that only reads. */
  query(config: RdbConfig, text: string, context: Context): Promise<QueryResult>;
  /** Throws where nothing can be stored, which a command must not take for an empty store. Absent where connecting shows it. */
  mustBeThere?(config: RdbConfig, context: Context): Promise<void>;
}
