import type { QueryResult } from "deneb/sdk";
import type pg from "pg";
import type { ServerSettings } from "../server.js";
import { type Encryption, encrypted } from "../tls.js";
import { clientConfig, statementLimit, wantsOtherEncryption } from "./connection.js";

/** Runs one statement in a read-only transaction on a separate connection. */
export async function postgresqlQuery(settings: ServerSettings, text: string): Promise<QueryResult> {
  const client = await encrypted(settings.options, {
    connect: (way) => connected(settings, way),
    wantsOther: wantsOtherEncryption,
  });
  try {
    await client.query("BEGIN READ ONLY");
    await client.query("SELECT set_config('statement_timeout', $1, true)", [String(statementLimit(settings))]);
    const { searchPath } = settings.options;
    if (searchPath !== undefined) await client.query("SELECT set_config('search_path', $1, true)", [searchPath]);
    const { fields, rows } = await client.query<(string | null)[]>(question(text));
    return {
      columns: fields.map(({ name }) => name),
      rows: rows.map((row) => row.map((cell) => cell ?? undefined)),
    };
  } finally {
    await client.end();
  }
}

async function connected(settings: ServerSettings, way: Encryption): Promise<pg.Client> {
  const { Client } = (await import("pg")).default;
  const client = new Client(clientConfig(settings, way));
  // If the connection breaks, the promise of the query rejects too.
  client.on("error", () => undefined);
  await client.connect();
  return client;
}

function question(text: string): pg.QueryArrayConfig {
  const asText = { getTypeParser: () => (value: string) => value };
  // The extended protocol accepts a single statement, so the text cannot end the read-only transaction and continue.
  const extended = { queryMode: "extended" };
  return { ...extended, text, rowMode: "array", types: asText };
}
