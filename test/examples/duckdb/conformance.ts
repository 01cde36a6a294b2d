import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import type { PluginSetup } from "deneb/sdk/testing";

/** How the conformance suites test this plugin; `deneb plugin test` reads it, too. */
export const setup: PluginSetup = {
  config: (folder) => ({ file: join(folder, "entities.duckdb") }),
  async openStore(folder) {
    const file = join(folder, "entities.duckdb");
    return {
      config: { file },
      readBack: () => marksIn(file),
      unreachable: { file: join(folder, "no-such-folder", "entities.duckdb") },
      close: async () => {},
    };
  },
};

async function marksIn(file: string): Promise<readonly string[]> {
  const instance = await DuckDBInstance.fromCache(file, { access_mode: "READ_WRITE" });
  const connection = await instance.connect();
  const texts = async (text: string) => (await connection.runAndReadAll(text)).getRows().map((row) => row.map(String));
  const tables = await texts(
    "SELECT table_schema, table_name FROM information_schema.columns WHERE column_name = 'mark'",
  );
  const marks: string[] = [];
  for (const [schema, table] of tables)
    for (const [mark] of await texts(`SELECT mark FROM "${schema}"."${table}" WHERE mark IS NOT NULL ORDER BY rowid`))
      if (mark !== undefined) marks.push(mark);
  connection.closeSync();
  instance.closeSync();
  return marks;
}
