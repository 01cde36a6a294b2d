import { randomBytes } from "node:crypto";

/** A name for a database that nobody else uses. */
export function freshName(): string {
  return `deneb_bench_${process.pid}_${randomBytes(4).toString("hex")}`;
}

const TABLES_AT_ONCE = 500;

/** Counts tables some hundred at a time: a server keeps a lock for each table of a statement. */
export async function sumOfTables(tables: readonly string[], count: (sql: string) => Promise<number>): Promise<number> {
  let sum = 0;
  for (let first = 0; first < tables.length; first += TABLES_AT_ONCE) {
    const some = tables.slice(first, first + TABLES_AT_ONCE);
    const counts = some.map((table) => `select count(*) as c from ${table}`).join(" union all ");
    sum += await count(`select sum(c) as c from (${counts}) as counts`);
  }
  return sum;
}

/** The table of a device, as MySQL names it; without quotes it is that of PostgreSQL and SQLite as well. */
export const deviceTable = (entity: number) => `urn_ngsi_ld_Device_bench_${entity}`;

/** The names of the agent's own tables in MySQL and SQLite, as a pattern of LIKE without an escape character. */
export const OWN_TABLES = "deneb_%";
