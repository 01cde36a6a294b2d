import { codeOf } from "deneb/sdk";
import { plain, type Statement } from "deneb/sql";
import type pg from "pg";
import type { ServerSettings } from "../server.js";
import type { Encryption } from "../tls.js";

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

/** Statements with a time limit, and the number of rows that the limit itself returns. */
interface Limited {
  readonly statements: readonly Statement[];
  readonly ownRows: number;
}

/** The statement time-out in milliseconds; 0 for no limit. */
export function statementLimit({ options, statementTimeoutMillis }: ServerSettings): number {
  return options.statementTimeoutMillis ?? statementTimeoutMillis;
}

/**
 * The statements of one round trip with the time-out as a setting of their transaction: a pooler such as PgBouncer
 * would pass a setting of the session on to the next client.
 */
export function limited(statements: readonly Statement[], settings: ServerSettings): Limited {
  const limit = statementLimit(settings);
  const [first] = statements;
  // Without a limit that of the user on the server applies.
  if (first === undefined || limit === 0) return { statements, ownRows: 0 };
  const own = statements.flatMap((statement) =>
    statement.text === "BEGIN"
      ? [statement, plain(statement.at, `SET LOCAL statement_timeout = ${limit}`)]
      : [statement],
  );
  if (first.text === "BEGIN") return { statements: own, ownRows: 0 };
  // Without BEGIN all statements before a Sync are one transaction too, but SET LOCAL would raise a warning.
  const setting = plain(first.at, `SELECT set_config('statement_timeout', '${limit}', true)`);
  return { statements: [setting, ...own], ownRows: 1 };
}
