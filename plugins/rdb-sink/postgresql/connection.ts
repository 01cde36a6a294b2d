import { codeOf } from "deneb/sdk";
import { plain, type Statement } from "deneb/sql";
import type pg from "pg";
import type { ServerSettings } from "../server.js";
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

/** Statements, and how many rows of their answer are none of theirs. */
interface Limited {
  readonly statements: readonly Statement[];
  readonly ownRows: number;
}

/** Milliseconds that the server lets one statement run; 0 for no limit. */
export function statementLimit({ options, statementTimeoutMillis }: ServerSettings): number {
  return options.statementTimeoutMillis ?? statementTimeoutMillis;
}

/**
 * The statements of one round trip with the limit as a setting of their transaction: a setting of the session would be
 * that of whoever a pooler such as PgBouncer lends the connection to next.
 */
export function limited(statements: readonly Statement[], settings: ServerSettings): Limited {
  const limit = statementLimit(settings);
  const [first] = statements;
  // Without a limit of ours that of the server's user counts.
  if (first === undefined || limit === 0) return { statements, ownRows: 0 };
  const own = statements.flatMap((statement) =>
    statement.text === "BEGIN"
      ? [statement, plain(statement.at, `SET LOCAL statement_timeout = ${limit}`)]
      : [statement],
  );
  if (first.text === "BEGIN") return { statements: own, ownRows: 0 };
  // Without BEGIN all statements before a Sync are one transaction too, but SET LOCAL would warn there.
  const setting = plain(first.at, `SELECT set_config('statement_timeout', '${limit}', true)`);
  return { statements: [setting, ...own], ownRows: 1 };
}
