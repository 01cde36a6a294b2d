import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import Database from "libsql";
import { createConnection } from "mysql2/promise";
import { mysqlOfTests } from "../support/mysql.js";
import { copyText } from "./copy-text.js";
import { postgresqlDatabase } from "./postgresql-store.js";
import { freshName } from "./tables-of-store.js";

/** Tables of 12 text columns on one connection. */
export interface RowWriter {
  /** Writes the same number of rows into each table and commits. */
  transaction(): Promise<void>;
  drop(): Promise<void>;
}

type Open = (tables: number, rowsPerTable: number) => Promise<RowWriter>;

const COLUMNS = 12;

/** About 330 bytes. */
const row = Array.from({ length: COLUMNS }, (_, column) =>
  `value ${column} of a row of the write ceiling`.slice(0, 27),
);
const columns = row.map((_, column) => `c${column}`).join(", ");
const definitions = (type: string) => row.map((_, column) => `c${column} ${type}`).join(", ");
const names = (tables: number) => Array.from({ length: tables }, (_, table) => `t${table}`);

/** The ways to write. */
export const writers = {
  /** Several COPYs in one query when there are several tables. */
  "postgresql-copy": async (tables, rowsPerTable) => {
    const { reader, drop } = await postgresqlTables(tables);
    const copies = names(tables).map((table) => `copy ${table} (${columns}) from stdin`);
    const text = ["begin", ...copies, "commit"].join("; ");
    const chunk = Buffer.from(`${row.join("\t")}\n`.repeat(rowsPerTable));
    return { transaction: async () => await copyText(reader, text, chunk), drop };
  },
  /** A named statement for each table, one after the other. */
  "postgresql-insert": async (tables, rowsPerTable) => {
    const { reader, drop } = await postgresqlTables(tables);
    const marks = Array.from({ length: rowsPerTable }, (_, at) => {
      return `(${row.map((_, column) => `$${at * COLUMNS + column + 1}`).join(", ")})`;
    });
    const values = Array.from({ length: rowsPerTable }, () => row).flat();
    const statements = names(tables).map((name) => {
      return { name, text: `insert into ${name} (${columns}) values ${marks.join(", ")}`, values };
    });
    const transaction = async () => {
      await reader.query("begin");
      for (const statement of statements) await reader.query(statement);
      await reader.query("commit");
    };
    return { transaction, drop };
  },
  /** A prepared statement for each table, one after the other. */
  "mysql-insert": async (tables, rowsPerTable) => {
    const connection = await createConnection(mysqlOfTests());
    const database = freshName();
    await connection.query(`create database ${database}`);
    await connection.changeUser({ database });
    for (const name of names(tables)) await connection.query(`create table ${name} (${definitions("text")})`);
    const marks = `(${row.map(() => "?").join(", ")})`;
    const list = Array.from({ length: rowsPerTable }, () => marks).join(", ");
    const values = Array.from({ length: rowsPerTable }, () => row).flat();
    const transaction = async () => {
      await connection.beginTransaction();
      for (const name of names(tables)) {
        await connection.execute(`insert into ${name} (${columns}) values ${list}`, values);
      }
      await connection.commit();
    };
    const drop = async () => {
      await connection.query(`drop database ${database}`);
      await connection.end();
    };
    return { transaction, drop };
  },
  /** A prepared statement for each table, run for each row; WAL and synchronous FULL. */
  "sqlite-insert": async (tables, rowsPerTable) => {
    const folder = await mkdtemp(path.join(tmpdir(), "deneb-bench-"));
    const database = new Database(path.join(folder, "ceiling.db"));
    database.exec("pragma journal_mode = wal; pragma synchronous = full;");
    for (const name of names(tables)) database.exec(`create table ${name} (${definitions("text")})`);
    const marks = row.map(() => "?").join(", ");
    const statements = names(tables).map((name) =>
      database.prepare(`insert into ${name} (${columns}) values (${marks})`),
    );
    const transaction = async () => {
      database.exec("begin");
      for (const statement of statements) for (let at = 0; at < rowsPerTable; at += 1) statement.run(row);
      database.exec("commit");
    };
    const drop = async () => {
      database.close();
      await rm(folder, { recursive: true, force: true });
    };
    return { transaction, drop };
  },
} satisfies Record<string, Open>;

async function postgresqlTables(tables: number) {
  const opened = await postgresqlDatabase();
  for (const name of names(tables)) await opened.reader.query(`create table ${name} (${definitions("text")})`);
  return opened;
}
