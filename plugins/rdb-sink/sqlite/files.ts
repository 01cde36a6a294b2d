import { chmodSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { codeOf } from "deneb/sdk";
import { type Cell, RecentMap, type Statement, unexpectedChanges } from "deneb/sql";
import type Database from "libsql";
import { connect, errorOfFile, refusalOf } from "./connection.js";
import { fileName } from "./file-name.js";

const BUSY_MILLIS = 5000;
const MOST_OPEN = 64;
const MOST_PREPARED = 1000;
const OF_OTHERS = 0o077;

type Connection = Database.Database;
type Prepared = Database.Statement;

interface OpenFile {
  readonly path: string;
  readonly inode: number | undefined;
  /** Inodes of the files beside it, by their paths. */
  readonly beside: ReadonlyMap<string, number | undefined>;
  readonly connection: Connection;
}

/** The database files of a folder, one for each schema, opened on demand. For use in one thread. */
export class SqliteFiles {
  readonly #folder: string;
  /** In the order of their last opening. */
  readonly #open = new Map<string, OpenFile>();
  readonly #prepared = new RecentMap<Prepared>(MOST_PREPARED);
  /** What is read in parts. */
  #rows: Iterator<unknown> | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Opens the files of the schemas. A file that was removed or replaced is opened again: SQLite would continue to write
   * to the removed one. Call it before a transaction, for all its schemas: it may close other files.
   */
  open(schemas: readonly string[]): void {
    for (const schema of schemas) {
      const file = this.#open.get(schema);
      if (file === undefined || file.inode === inodeOf(file.path)) continue;
      this.#close(schema, file);
      removeBeside(file);
    }
    const missing = schemas.filter((schema) => !this.#open.has(schema));
    this.#makeRoom(missing.length, new Set(schemas));
    for (const schema of missing)
      this.#open.set(
        schema,
        of(schema, () => usableFile(join(this.#folder, fileName(schema)))),
      );
  }

  /** Runs a command without parameters, such as BEGIN. */
  execute(schema: string, command: string): void {
    of(schema, () => this.#connection(schema).exec(command));
  }

  run(statement: Statement): void {
    const prepared = this.#statement(statement);
    for (const run of statement.runs) {
      const { changes } = of(statement.at.schema, () => prepared.run(run));
      if (statement.changes !== undefined && changes !== statement.changes) throw unexpectedChanges();
    }
  }

  rows(statement: Statement): readonly (readonly Cell[])[] {
    const prepared = this.#statement(statement).raw();
    return of(statement.at.schema, () => statement.runs.flatMap((run) => prepared.all(run).map(textRow)));
  }

  /** Begins to read the rows of these statements in parts; only of the first one, and its first run. */
  openRows([statement]: readonly Statement[]): void {
    if (statement === undefined) return;
    this.open([statement.at.schema]);
    // Not one of the others, because numbers are exact here.
    const prepared = this.#connection(statement.at.schema).prepare(statement.text).safeIntegers().raw();
    this.#rows = prepared.iterate(statement.runs[0] ?? []);
  }

  /** At most that many of the rows; none after the last one. */
  nextRows(most: number): readonly (readonly Cell[])[] {
    const rows: (readonly Cell[])[] = [];
    while (rows.length < most) {
      const next = this.#rows?.next();
      if (next === undefined || next.done === true) {
        this.#rows = undefined;
        break;
      }
      rows.push(textRow(next.value));
    }
    return rows;
  }

  close(): void {
    this.#rows = undefined;
    for (const [schema, file] of this.#open) this.#close(schema, file);
  }

  #connection(schema: string): Connection {
    const file = this.#open.get(schema);
    if (file === undefined) throw new Error(`the file of schema "${schema}" is not open`);
    return file.connection;
  }

  #statement({ at: { schema }, text }: Statement): Prepared {
    const key = `${schema}\0${text}`;
    const known = this.#prepared.get(key);
    if (known !== undefined) return known;

    const prepared = of(schema, () => this.#connection(schema).prepare(text));
    this.#prepared.set(key, prepared);
    return prepared;
  }

  #makeRoom(wanted: number, needed: ReadonlySet<string>): void {
    const closable = [...this.#open].filter(([schema]) => !needed.has(schema));
    const excess = Math.max(0, this.#open.size + wanted - MOST_OPEN);
    for (const [schema, file] of closable.slice(0, excess)) this.#close(schema, file);
  }

  #close(schema: string, { connection }: OpenFile): void {
    // Prepared statements keep the file open; those of other files are prepared again.
    this.#prepared.clear();
    this.#open.delete(schema);
    connection.close();
  }
}

/** Errors of the file of a schema name it. */
function of<T>(schema: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw errorOfFile(error, fileName(schema));
  }
}

function usableFile(path: string): OpenFile {
  try {
    return openFile(path);
  } catch (error) {
    throw (codeOf(error) === "SQLITE_CANTOPEN" ? refusalOf(path) : undefined) ?? error;
  }
}

function openFile(path: string): OpenFile {
  const connection = connect(path, BUSY_MILLIS);
  try {
    closeToOthers(path);
    begin(connection);
  } catch (error) {
    connection.close();
    throw error;
  }
  const beside = new Map(besides(path).map((file) => [file, inodeOf(file)]));
  return { path, inode: inodeOf(path), beside, connection };
}

// None of them prepared: that would keep the file open. The query makes the files beside it.
const BEGINNING = `
  PRAGMA busy_timeout = ${BUSY_MILLIS};
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  SELECT 1 FROM sqlite_master`;

/** Of two that make a file at once SQLite refuses one, whatever its time-out: each waits for what the other holds. */
function begin(connection: Connection): void {
  const end = performance.now() + BUSY_MILLIS;
  for (;;) {
    try {
      connection.exec(BEGINNING);
      return;
    } catch (error) {
      if (codeOf(error) !== "SQLITE_BUSY" || performance.now() >= end) throw error;
      Atomics.wait(pausing, 0, 0, 1 + Math.random() * MOST_PAUSE);
    }
  }
}

const MOST_PAUSE = 20;
const pausing = new Int32Array(new SharedArrayBuffer(4));

/** SQLite would take what the files beside a removed or replaced file hold for a part of the one that has its place. */
function removeBeside({ beside }: OpenFile): void {
  for (const [path, inode] of beside) if (inode !== undefined && inodeOf(path) === inode) rmSync(path, { force: true });
}

function besides(path: string): readonly string[] {
  return [`${path}-wal`, `${path}-shm`];
}

/**
 * Files beside it, such as `-wal`, get the permissions of the database; files of an earlier version may exist already.
 */
function closeToOthers(path: string): void {
  for (const file of [path, ...besides(path)]) {
    const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? 0;
    if ((mode & OF_OTHERS) === 0) continue;
    try {
      chmodSync(file, mode & 0o7777 & ~OF_OTHERS);
    } catch {
      // The file belongs to another user, who determines its permissions.
    }
  }
}

function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}

function textRow(row: unknown): readonly Cell[] {
  if (!Array.isArray(row)) return [];
  return row.map((cell) => (cell === null || cell === undefined ? undefined : String(cell)));
}
