import { codeOf } from "deneb/sdk";
import type pg from "pg";
import type { ServerSettings } from "../server-settings.js";
import type { Encryption } from "../tls.js";

/**
 * The settings of one connection in the words of `pg`. Settings of a session are not among them: a pooler that lends
 * server connections for one transaction refuses them.
 */
export function clientConfig(settings: ServerSettings, encryption: Encryption): pg.ClientConfig {
  const { options } = settings;
  return {
    host: settings.host,
    port: settings.port,
    database: settings.database,
    user: settings.username,
    // As a function: with an empty text `pg` would look for PGPASSWORD and a password file.
    password: () => settings.password,
    ssl: encryption,
    application_name: options.applicationName ?? "deneb",
    connectionTimeoutMillis: options.connectTimeoutMillis ?? settings.connectTimeoutMillis,
    keepAlive: true,
  };
}

export function poolConfig(settings: ServerSettings, encryption: Encryption): pg.PoolConfig {
  return {
    ...clientConfig(settings, encryption),
    max: settings.mostConnections,
    min: settings.leastIdle,
    idleTimeoutMillis: settings.idleMillis,
  };
}

/** True when another way to connect may succeed: no TLS here, or pg_hba.conf wants the other way. */
export function wantsOtherEncryption(error: unknown): boolean {
  return codeOf(error) === "28000" || (error instanceof Error && /does not support SSL/.test(error.message));
}
