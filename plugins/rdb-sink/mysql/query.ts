import type { QueryResult } from "deneb/sdk";
import type { Connection, RowDataPacket } from "mysql2/promise";
import type { ServerSettings } from "../server.js";
import { encrypted } from "../tls.js";
import { connectionOptions, wantsOtherEncryption } from "./connection.js";

/** Runs one statement in a read-only transaction on a separate connection. */
export async function mysqlQuery(settings: ServerSettings, text: string): Promise<QueryResult> {
  const { createConnection } = await import("mysql2/promise");
  const connection = await encrypted(settings.options, {
    connect: (way) => createConnection(connectionOptions(settings, way)),
    wantsOther: wantsOtherEncryption,
  });
  // If the connection breaks, the promise of the query rejects too.
  connection.on("error", () => undefined);
  try {
    // For the session: a definition would end a read-only transaction.
    await connection.query("SET SESSION TRANSACTION READ ONLY");
    await connection.query("START TRANSACTION READ ONLY");
    return await answer(connection, text);
  } finally {
    await connection.end();
  }
}

async function answer(connection: Connection, text: string): Promise<QueryResult> {
  const [rows, fields] = await connection.query<RowDataPacket[][]>({
    sql: text,
    rowsAsArray: true,
    typeCast: (field) => field.string("utf8"),
  });
  return {
    columns: fields.map(({ name }) => name),
    rows: rows.map((row) => row.map((cell) => (typeof cell === "string" ? cell : undefined))),
  };
}
