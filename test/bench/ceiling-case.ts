import { type RowWriter, writers } from "./row-writers.js";
import { unwinding } from "./unwinding.js";

/** What a database takes from one bare connection: no agent, no HTTP. */
export interface CeilingCase {
  readonly name: string;
  readonly writer: keyof typeof writers;
  readonly tables: number;
}

const WORDS = {
  "postgresql-copy": "PostgreSQL, COPY",
  "postgresql-insert": "PostgreSQL, multi-row INSERT",
  "mysql-insert": "MariaDB, multi-row INSERT",
  "sqlite-insert": "embedded, INSERT in a transaction",
} satisfies Record<keyof typeof writers, string>;

export const ROWS_PER_TRANSACTION = 1000;

/** One connection, 1,000 rows a transaction. */
export const ceilingCases: readonly CeilingCase[] = (
  ["postgresql-copy", "postgresql-insert", "mysql-insert", "sqlite-insert"] as const
).flatMap((writer) =>
  [1, 100].map((tables) => ({
    name: `write ceiling: ${WORDS[writer]}, ${tables} table${tables === 1 ? "" : "s"}`,
    writer,
    tables,
  })),
);

/** Writes transactions for so many seconds; returns rows per second. */
export async function measureCeiling({ writer, tables }: CeilingCase, seconds: number): Promise<number> {
  const open: RowWriter = await writers[writer](tables, ROWS_PER_TRANSACTION / tables);
  return await unwinding(open.drop, async () => {
    await open.transaction(); // Warm: statements are prepared.
    const started = performance.now();
    let rows = 0;
    while (performance.now() - started < seconds * 1000) {
      await open.transaction();
      rows += ROWS_PER_TRANSACTION;
    }
    return rows / ((performance.now() - started) / 1000);
  });
}
