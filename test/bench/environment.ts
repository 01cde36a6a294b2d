import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { cpus, loadavg, release, totalmem, type } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import Database from "libsql";
import { createConnection, type RowDataPacket } from "mysql2/promise";
import pg from "pg";
import { mysqlOfTests } from "../support/mysql.js";
import { repositoryRoot } from "../support/repository.js";
import { postgresqlOfBench } from "./postgresql-store.js";

/** Where and with what a run was made: a line for each, without addresses or secrets. */
export async function environment(): Promise<Readonly<Record<string, string>>> {
  const [cpu] = cpus();
  const memory = Math.round(totalmem() / 2 ** 30);
  return {
    date: new Date().toISOString(),
    machine: `${type()} ${release()}, ${cpus().length} x ${cpu?.model ?? "unknown CPU"}, ${memory} GiB`,
    "load average before": loadavg()
      .map((load) => load.toFixed(1))
      .join(", "),
    node: process.version,
    version: JSON.parse(await readFile(path.join(repositoryRoot, "package.json"), "utf8")).version,
    commit: await commit(),
    PostgreSQL: await postgresql().catch(() => "none"),
    MariaDB: await mysql().catch(() => "none"),
    "embedded database": embedded(),
  };
}

const POSTGRESQL_SETTINGS = ["fsync", "synchronous_commit", "full_page_writes", "shared_buffers", "max_wal_size"];
const MYSQL_SETTINGS = [
  "innodb_flush_log_at_trx_commit",
  "sync_binlog",
  "log_bin",
  "innodb_doublewrite",
  "innodb_buffer_pool_size",
  "innodb_log_file_size",
];

async function postgresql(): Promise<string> {
  const client = new pg.Client({ ...postgresqlOfBench(), database: "postgres" });
  await client.connect();
  try {
    const { rows: settings } = await client.query(
      "select name, current_setting(name) as value from pg_settings where name = any($1) order by name",
      [["server_version", ...POSTGRESQL_SETTINGS]],
    );
    return settings.map(({ name, value }) => `${name} ${value}`).join(", ");
  } finally {
    await client.end();
  }
}

async function mysql(): Promise<string> {
  const connection = await createConnection(mysqlOfTests());
  try {
    const [settings] = await connection.query<RowDataPacket[]>("show global variables where variable_name in (?)", [
      ["version", ...MYSQL_SETTINGS],
    ]);
    return settings.map((setting) => `${setting["Variable_name"]} ${setting["Value"]}`).join(", ");
  } finally {
    await connection.end();
  }
}

function embedded(): string {
  const database = new Database(":memory:");
  const { version } = Object(database.prepare("select sqlite_version() as version").get());
  database.close();
  return `SQLite ${version} by libsql`;
}

const run = promisify(execFile);

async function commit(): Promise<string> {
  const git = async (...args: readonly string[]) =>
    (await run("git", [...args], { cwd: repositoryRoot })).stdout.trim();
  try {
    const changed = await git("status", "--porcelain");
    return `${await git("rev-parse", "HEAD")}${changed === "" ? "" : ", with changes that are not committed"}`;
  } catch {
    return "unknown, this is no git checkout";
  }
}
