import { codeOf } from "deneb/sdk";
import type pg from "pg";
import type { Encryption } from "../encryption.js";
import type { ServerSettings } from "../server.js";

/**
 * The settings of one connection for `pg`, without settings of the session: a pooler in transaction mode refuses them.
 */
export function clientConfig(settings: ServerSettings, encryption: Encryption): pg.ClientConfig {
  const { options } = settings;
  return {
    host: settings.host,
    port: settings.port,
    database: settings.database,
    user: settings.username,
    // As a function: for an empty text `pg` would use PGPASSWORD or a password file.
    password: () => settings.password,
    ssl: encryption,
    application_name: options.applicationName ?? "deneb",
    connectionTimeoutMillis: options.connectTimeoutMillis ?? settings.connectTimeoutMillis,
    keepAlive: true,
  };
}

/** The same for a pool of connections. */
export function poolConfig(settings: ServerSettings, encryption: Encryption): pg.PoolConfig {
  return {
    ...clientConfig(settings, encryption),
    max: settings.mostConnections,
    min: settings.leastIdle,
    idleTimeoutMillis: settings.idleMillis,
  };
}

/** True if the other encryption may succeed: the server has no TLS, or pg_hba.conf requires the other one. */
export function wantsOtherEncryption(error: unknown): boolean {
  return codeOf(error) === "28000" || (error instanceof Error && /does not support SSL/.test(error.message));
}
