import { join } from "node:path";
import type { Cell, Statement } from "deneb/sql";
import type Database from "libsql";
import { errorOfFile } from "./connection.js";
import { refuseGone } from "./database-folder.js";
import { fileName } from "./file-name.js";
import { collectGarbage } from "./garbage.js";
import { KeptLocks } from "./kept-locks.js";
import {
  hasItsBeside,
  inodeOf,
  type OpenFile,
  openFile,
  removeBeside,
  removeEmptied,
  saveWritten,
} from "./open-file.js";
import { type TableColumn, withRowId } from "./row-ids.js";
import type { SqliteThread } from "./thread-messages.js";

const MOST_PREPARED = 2000;
const COLUMNS = `
  SELECT found.name, found.pk, list.wr
  FROM pragma_table_list(?1) AS list JOIN pragma_table_xinfo(?1) AS found WHERE list.schema = 'main'`;

/** A statement changed another number of rows than it was to. */
export class UnexpectedChanges extends Error {}

type Prepared = Database.Statement;

/**
 * The database files of a folder, one for each schema, opened on demand. For use in one thread. It keeps `mostOpen` of them
 * open, and more only where a call of `open` names more.
 */
export class SqliteFiles {
  readonly #folder: string;
  readonly #hadLock: boolean;
  readonly #mostOpen: number;
  readonly #busyMillis: number;
  readonly #locks: KeptLocks;
  /** In the order of their last use. */
  readonly #open = new Map<string, OpenFile>();
  /** Files that were closed and may still have statements, which keep them open. */
  #left = 0;
  readonly #prepared = new Map<string, Prepared>();
  /** What is read in parts. */
  #rows: Iterator<unknown> | undefined;

  constructor({ folder, hadLock, mostOpen, busyMillis }: SqliteThread) {
    this.#folder = folder;
    this.#hadLock = hadLock;
    this.#mostOpen = mostOpen;
    this.#busyMillis = busyMillis;
    this.#locks = new KeptLocks(busyMillis);
  }

  /**
   * Opens the files of the schemas. A file that was removed, emptied or replaced, or one of those beside it, is opened again: SQLite would
   * continue to write to the removed one, and others would see no row of an empty one. Call it before a transaction, for all its schemas: it may close other files.
   */
  open(schemas: readonly string[]): void {
    for (const schema of schemas) {
      const file = this.#open.get(schema);
      if (file === undefined) continue;
      removeEmptied(file);
      const isThere = file.inode === inodeOf(file.path);
      if (isThere && hasItsBeside(file)) {
        this.#open.delete(schema);
        this.#open.set(schema, file);
        continue;
      }
      if (isThere) saveWritten(file);
      else this.#refuseGone();
      this.#close(schema, file);
      removeBeside(file);
    }
    const missing = schemas.filter((schema) => !this.#open.has(schema));
    if (missing.length > 0) this.#refuseGone();
    this.#makeRoom(missing.length, new Set(schemas));
    for (const schema of missing)
      this.#open.set(
        schema,
        of(schema, () => this.#locks.locked(schema, (wait) => openFile(join(this.#folder, fileName(schema)), wait))),
      );
  }

  /** Begins a transaction that writes. */
  begin(schema: string): void {
    const connection = this.#connection(schema);
    const begin = (wait: number) => {
      if (wait === this.#busyMillis) return connection.exec("BEGIN IMMEDIATE");
      try {
        return connection.exec(`PRAGMA busy_timeout = ${wait}; BEGIN IMMEDIATE`);
      } finally {
        connection.exec(`PRAGMA busy_timeout = ${this.#busyMillis}`);
      }
    };
    of(schema, () => this.#locks.locked(schema, begin, () => this.#version(schema)));
  }

  /** Runs a command without parameters, such as COMMIT. */
  execute(schema: string, command: string): void {
    of(schema, () => this.#connection(schema).exec(command));
  }

  run(statement: Statement): void {
    const { at } = statement;
    const text = withRowId(statement.text, (table) => this.#columns(at, table));
    const prepared = this.#statement({ ...statement, text });
    for (const run of statement.runs) {
      const { changes } = of(statement.at.schema, () => prepared.run(run));
      if (statement.changes !== undefined && changes !== statement.changes) throw new UnexpectedChanges();
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

  /** Call it between two tasks of the thread: after many files were closed, the system gets them back. */
  async release(): Promise<void> {
    if (this.#left < this.#mostOpen) return;
    this.#left = 0;
    await collectGarbage();
  }

  /** Closes all, while some may be read in parts: the system lets this process open no more. */
  closeAll(): void {
    for (const [schema, file] of this.#open) this.#close(schema, file);
    this.#left = this.#mostOpen;
  }

  /** At the end of the thread, which needs no collection. */
  close(): void {
    this.#rows = undefined;
    for (const [schema, file] of this.#open) this.#close(schema, file);
  }

  #connection(schema: string): Database.Database {
    const file = this.#open.get(schema);
    if (file === undefined) throw new Error(`the file of schema "${schema}" is not open`);
    return file.connection;
  }

  #statement({ at: { schema }, text }: Statement): Prepared {
    const key = `${schema}\0${text}`;
    const known = this.#prepared.get(key);
    if (known !== undefined) return known;

    const prepared = of(schema, () => this.#connection(schema).prepare(text));
    if (this.#prepared.size === MOST_PREPARED) this.#prepared.clear();
    this.#prepared.set(key, prepared);
    return prepared;
  }

  #columns(at: Statement["at"], table: string): readonly TableColumn[] {
    const rows = this.rows({ at, text: COLUMNS, runs: [[table]] });
    return rows.map(([name, inKey, withoutRowId]) => ({
      name: String(name),
      inKey: Number(inKey),
      withoutRowId: withoutRowId === "1",
    }));
  }

  /** Another one after each commit by another connection. */
  #version(schema: string): string {
    const asked = this.#statement({ at: { database: "", schema }, text: "PRAGMA data_version", runs: [] });
    return String(asked.raw().all([]));
  }

  #refuseGone(): void {
    if (this.#hadLock) refuseGone(this.#folder);
  }

  #makeRoom(wanted: number, needed: ReadonlySet<string>): void {
    const closable = [...this.#open].filter(([schema]) => !needed.has(schema));
    const excess = Math.max(0, this.#open.size + wanted - this.#mostOpen);
    for (const [schema, file] of closable.slice(0, excess)) this.#close(schema, file);
  }

  #close(schema: string, { connection }: OpenFile): void {
    // Prepared statements keep the file open; those of other files are prepared again.
    this.#prepared.clear();
    this.#open.delete(schema);
    this.#left += 1;
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

function textRow(row: unknown): readonly Cell[] {
  if (!Array.isArray(row)) return [];
  return row.map((cell) => (cell === null || cell === undefined ? undefined : String(cell)));
}
