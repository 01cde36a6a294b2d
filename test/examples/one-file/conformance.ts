import { join } from "node:path";
import type { Event } from "deneb/sdk";
import type { PluginSetup } from "deneb/sdk/testing";
import Database from "libsql";

/** How the conformance suites test this plugin; `deneb plugin test` reads it, too. */
export const setup: PluginSetup = {
  config: (folder) => ({ file: join(folder, "entities.db") }),
  async openStore(folder) {
    const file = join(folder, "entities.db");
    return {
      config: { file },
      readBack: async () => marksIn(file),
      unreachable: { file: join(folder, "no-such-folder", "entities.db") },
      poisoned: withNul,
      close: async () => {},
    };
  },
};

function marksIn(file: string): readonly string[] {
  const connection = new Database(file);
  const texts = (text: string) => connection.prepare(text).pluck().all().map(String);
  const tables = texts(
    "SELECT t.name FROM sqlite_master t JOIN pragma_table_info(t.name) c WHERE t.type = 'table' AND c.name = 'mark'",
  );
  const marks = tables.flatMap((table) => texts(`SELECT mark FROM "${table}" WHERE mark IS NOT NULL ORDER BY rowid`));
  connection.close();
  return marks;
}

/** A text that no database keeps. */
function withNul({ headers, body }: Event): Event {
  const text: unknown = JSON.parse(JSON.stringify(body).replace('"text":"', '"text":"\\u0000'));
  return { headers, body: text };
}
