import { AgentError, type QueryResult } from "../../sdk/index.js";
import { storeError } from "../contract/database-error.js";
import type { Store } from "../contract/driver.js";

/** What a reading statement begins with; parentheses and comments may come before it. */
const READING =
  /^(?:[\s(]|--[^\n]*\n|\/\*(?:[^*]|\*(?!\/))*\*\/)*(?:select|with|values|table|from|show|describe|explain|summarize)\b/is;

/**
 * Runs one query of a person, for the `query` of your plugin (`deneb sql`). It takes a single statement that begins as a
 * reading one does; the driver runs it over a connection that cannot change anything, in a transaction that is rolled
 * back. The store is closed.
 * @beta
 */
export async function querySql(text: string, { driver, dialect, server }: Store): Promise<QueryResult> {
  const { signal } = new AbortController();
  try {
    const statement = text.trim().replace(/;$/, "");
    if (!READING.test(statement)) throw notAllowed(text, "it is no query; only reading is allowed");
    // Whatever the database takes for a text, a comment or a name: what has no semicolon is one statement.
    if (statement.includes(";")) throw notAllowed(text, "a semicolon is allowed at the end only; write it as chr(59)");
    if (driver.query === undefined) throw notAllowed(text, "the driver of this sink runs no queries");
    return await driver.query(statement, signal);
  } catch (error) {
    throw error instanceof AgentError ? error : storeError(error, dialect.errors, server);
  } finally {
    await driver.close(signal);
  }
}

function notAllowed(text: string, reason: string): AgentError {
  return new AgentError("NOT_A_QUERY", `running "${text}": ${reason}`, { retryable: false });
}
