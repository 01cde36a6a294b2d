import type { TestContext } from "node:test";
import { postgresqlDatabase } from "../support/postgresql.js";

/** Whether the test is skipped because there is no PostgreSQL. */
export async function needsPostgresql(context: TestContext): Promise<boolean> {
  const database = await postgresqlDatabase();
  if (database === undefined) context.skip("needs PostgreSQL");
  await database?.drop();
  return database === undefined;
}
