import type { TestServer } from "../../support/mysql.js";

/** Whether the server compares names of columns by all of Unicode, as MariaDB does from 11.5 on: by this collation. */
export async function foldsUnicode(server: Pick<TestServer, "query"> | undefined): Promise<boolean> {
  const rows = await server?.query(
    "SELECT 1 FROM information_schema.collations WHERE collation_name = 'utf8mb3_general1400_as_ci'",
  );
  return rows?.length === 1;
}
