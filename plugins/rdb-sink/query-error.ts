import { AgentError } from "deneb/sdk";
import { type Dialect, databaseErrorOf, type ServerAddress, storeError } from "deneb/sql";

/** What PostgreSQL, MySQL and SQLite say of a statement that would change something where only reading is allowed. */
const READ_ONLY =
  /^(?:25006|ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION|SQLITE_READONLY\w*) |attempt to write a readonly database/;

/** The error of a query of a person: one of its own when it was no query. */
export function queryError(
  error: unknown,
  text: string,
  { dialect, server }: { readonly dialect: Pick<Dialect, "errors">; readonly server: ServerAddress },
): unknown {
  const { code = "", message } = databaseErrorOf(error);
  if (!READ_ONLY.test(`${code} ${message}`)) return storeError(error, dialect.errors, server);
  const reason = "it changes data, and only queries are allowed";
  return new AgentError("NOT_A_QUERY", `running "${text}": ${reason}`, { cause: error, retryable: false });
}
