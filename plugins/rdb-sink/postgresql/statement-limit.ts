import { plain, type Statement } from "deneb/sql";
import type { ServerSettings } from "../server-settings.js";

/** Statements, and how many rows of their answer are none of theirs. */
export interface Limited {
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
