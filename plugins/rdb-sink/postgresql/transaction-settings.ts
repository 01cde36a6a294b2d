import { plain, type Statement } from "deneb/sql";
import type { ServerSettings } from "../server.js";
import { OF_THE_SERVER } from "./search-path.js";

/** The statement time-out in milliseconds; 0 for no limit. */
export function statementLimit({ options, statementTimeoutMillis }: ServerSettings): number {
  return options.statementTimeoutMillis ?? statementTimeoutMillis;
}

/**
 * The statements of one round trip with the time-out as a setting of their transaction: a pooler such as PgBouncer
 * would pass a setting of the session on to the next client.
 */
export function limited(statements: readonly Statement[], settings: ServerSettings): readonly Statement[] {
  const limit = statementLimit(settings);
  // Without a limit that of the user on the server applies.
  if (limit === 0) return statements;
  return afterBegin(statements, `SET LOCAL statement_timeout = ${limit}`);
}

function afterBegin(statements: readonly Statement[], text: string): readonly Statement[] {
  return statements.flatMap((statement) =>
    statement.text === "BEGIN" ? [statement, plain(statement.at, text)] : [statement],
  );
}

/** Questions with their settings, and the number of rows that the settings themselves return. */
export interface Asked {
  readonly statements: readonly Statement[];
  readonly ownRows: number;
}

/** Questions, which find no function or operator but those of the server. */
export function asked(statements: readonly Statement[], settings: ServerSettings): Asked {
  const [first] = statements;
  if (first === undefined) return { statements, ownRows: 0 };
  const all = limited(afterBegin(statements, `SET LOCAL search_path = ${OF_THE_SERVER}`), settings);
  if (first.text === "BEGIN") return { statements: all, ownRows: 0 };
  // Without BEGIN all statements before a Sync are one transaction too, but SET LOCAL would raise a warning.
  const limit = statementLimit(settings);
  const given = [["search_path", OF_THE_SERVER], ...(limit === 0 ? [] : [["statement_timeout", String(limit)]])];
  const calls = given.map(([name, value]) => `pg_catalog.set_config('${name}', '${value}', true)`);
  return { statements: [plain(first.at, `SELECT ${calls.join(", ")}`), ...all], ownRows: 1 };
}
