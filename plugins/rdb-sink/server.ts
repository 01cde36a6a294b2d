import type { Place } from "deneb/sql";
import type { RdbConfig } from "./config.js";
import type { ServerOptions } from "./server-options.js";
import type { ServerSettings } from "./server-settings.js";

/** What is usual for a kind of server, where the configuration says nothing. */
export interface UsualServer {
  readonly port: number;
  readonly username: string;
}

export function settingsOf(config: RdbConfig, usual: UsualServer, options: ServerOptions): ServerSettings {
  return {
    host: config.rdb_host,
    port: portOf(config, usual),
    database: config.rdb_database,
    username: usernameOf(config, usual),
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

export function placeOf(config: RdbConfig, usual: UsualServer): Place {
  return {
    address: `${config.rdb_host}:${portOf(config, usual)}`,
    database: config.rdb_database,
    username: usernameOf(config, usual),
    options: config.rdb_options,
  };
}

function portOf({ rdb_port }: RdbConfig, usual: UsualServer): number {
  return rdb_port === 0 ? usual.port : rdb_port;
}

function usernameOf({ rdb_username }: RdbConfig, usual: UsualServer): string {
  return rdb_username === "" ? usual.username : rdb_username;
}
