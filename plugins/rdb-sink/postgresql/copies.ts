import { codeOf } from "deneb/sdk";
import type { Statement, TableName } from "deneb/sql";
import type { CopyOf } from "./messages.js";
import { type CopyableStatement, path } from "./statements.js";

/** By row security, by what is no table, and by a generated column, of which the INSERT says more. */
const OF_ONE_TABLE = new Set(["0A000", "42809", "42P10"]);
/** By servers that speak the protocol and have no such COPY. */
const OF_ALL_TABLES = new Set(["42601", "08P01"]);
/** After that the connection copies nothing. */
const MOST_REFUSED = 10;

/** Which tables one connection takes rows of by COPY. */
export class Copies {
  readonly #without = new Set<string>();
  #refused = 0;
  #isOff = false;

  /** These have rules, which COPY would not follow. */
  leaveOut(ruled: readonly TableName[]): void {
    for (const name of ruled) this.#without.add(path(name));
  }

  readonly of: CopyOf = (statement) => {
    if (this.#isOff || statement.changes !== undefined || !isCopyable(statement)) return undefined;
    return this.#without.size > 0 && this.#without.has(path(statement.at)) ? undefined : statement.copy;
  };

  /** Whether the statement, which was sent as a COPY, may succeed without; that is not tried for it again. */
  refused(statement: Statement | undefined, error: unknown): boolean {
    if (statement === undefined || !isCopyable(statement) || this.of(statement) === undefined) return false;
    const code = codeOf(error) ?? "";
    if (OF_ONE_TABLE.has(code)) this.#without.add(path(statement.at));
    else if (!OF_ALL_TABLES.has(code)) return false;
    this.#refused += 1;
    this.#isOff = OF_ALL_TABLES.has(code) || this.#refused > MOST_REFUSED;
    return true;
  }
}

export function isCopyable(statement: Statement): statement is CopyableStatement {
  return "copy" in statement;
}

/** A row that is alone is inserted: the answer to a COPY comes in two parts. */
export function haveSeveralRows(statements: readonly Statement[]): boolean {
  let rows = 0;
  for (const one of statements) if (isCopyable(one)) rows += one.runs.length;
  return rows > 1;
}
