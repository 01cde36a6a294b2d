import { randomBytes } from "node:crypto";
import { type Connection, type ConnectionOptions, createConnection, type RowDataPacket } from "mysql2/promise";

/** The MySQL or MariaDB of the tests, with databases that belong to one test file. */
export interface TestServer {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  /** The databases of the test file begin with it. */
  readonly prefix: string;
  /** The rows as objects; every value as text, null for NULL. */
  query(text: string): Promise<readonly Readonly<Record<string, string | null>>[]>;
  /** Removes the databases with the prefix. */
  drop(): Promise<void>;
}

const REACH_TIMEOUT_MILLIS = 20_000;

/**
 * The server that DENEB_TEST_MYSQLHOST, _MYSQLPORT, _MYSQLUSER and _MYSQLPASSWORD name, or another one; undefined when none
 * answers there.
 */
export async function mysqlServer(server: MysqlAddress = mysqlOfTests()): Promise<TestServer | undefined> {
  const connection = await reachedMysql(server);
  if (connection === undefined) return undefined;

  const prefix = `deneb_test_${process.pid}_${randomBytes(4).toString("hex")}_`;
  const query = (text: string) => mysqlRows(connection, text);
  return {
    ...server,
    prefix,
    query,
    drop: async () => {
      const databases = await query("SELECT schema_name AS name FROM information_schema.schemata");
      for (const { name } of databases) {
        if (name?.startsWith(prefix) === true) await query(`DROP DATABASE \`${name.replaceAll("`", "``")}\``);
      }
      await connection.end();
    },
  };
}

type MysqlAddress = Pick<TestServer, "host" | "port" | "user" | "password">;

/** Where the MySQL of the tests is. */
export function mysqlOfTests(): MysqlAddress {
  const { DENEB_TEST_MYSQLHOST, DENEB_TEST_MYSQLPORT, DENEB_TEST_MYSQLUSER, DENEB_TEST_MYSQLPASSWORD } = process.env;
  return {
    host: DENEB_TEST_MYSQLHOST ?? "127.0.0.1",
    port: Number(DENEB_TEST_MYSQLPORT ?? 3306),
    user: DENEB_TEST_MYSQLUSER ?? "root",
    password: DENEB_TEST_MYSQLPASSWORD ?? "",
  };
}

/** A connection; undefined when no server answers. */
export async function reachedMysql(options: ConnectionOptions): Promise<Connection | undefined> {
  try {
    const connection = await createConnection({ ...options, connectTimeout: REACH_TIMEOUT_MILLIS });
    connection.on("error", () => undefined);
    return connection;
  } catch {
    return undefined;
  }
}

/** The rows as objects; every value as text, null for NULL. */
export async function mysqlRows(
  connection: Connection,
  text: string,
): Promise<Readonly<Record<string, string | null>>[]> {
  const [rows] = await connection.query<RowDataPacket[]>({ sql: text, typeCast: (field) => field.string() });
  return Array.isArray(rows)
    ? rows.map((row) => Object.fromEntries(Object.entries(row).map(([name, cell]) => [name, textOf(cell)])))
    : [];
}

function textOf(cell: unknown): string | null {
  return typeof cell === "string" ? cell : null;
}
