import type { ServerAddress } from "deneb/sql";
import type { RdbConfig } from "./config.js";

/** What is defaults for a kind of server, where the configuration says nothing. */
export interface ServerDefaults {
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
    address: `${config.rdb_host}:${portOf(config, defaults)}`,
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

/** What `rdb_options` asks for; undefined where it says nothing. */
export interface ServerOptions {
  readonly sslMode: SslMode;
  readonly sslRootCert: string | undefined;
  readonly sslCert: string | undefined;
  readonly sslKey: string | undefined;
  readonly connectTimeoutMillis: number | undefined;
  /** The longest time one statement may take. */
  readonly statementTimeoutMillis: number | undefined;
  readonly applicationName: string | undefined;
  /** Schemas for names that have none, in queries. */
  readonly searchPath: string | undefined;
  /** Names of options that have no meaning here. */
  readonly unknown: readonly string[];
  /** What is wrong with the others. */
  readonly faults: readonly string[];
}

/** One option as it was written; options that differ in capitals and `_` only have the same canonical name. */
interface GivenOption {
  readonly name: string;
  readonly canonical: string;
  readonly value: string;
}

/** The options of a text in which `&` or blanks join them; a leading `?` of a URL does not count. */
export function givenOptions(text: string): readonly GivenOption[] {
  return text
    .replace(/^\s*\?/, "")
    .split(/[&\s]+/)
    .filter(Boolean)
    .map(given);
}

/** Milliseconds of an option in units of so many milliseconds; undefined when it is no count, which is a fault. */
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

/** How to reach a database server, and how many connections to keep. */
export interface ServerSettings {
  readonly host: string;
  readonly port: number;
  /** The database of the configuration; servers whose schemas are databases do without. */
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
  /** 0 waits for ever. */
  readonly statementTimeoutMillis: number;
}
