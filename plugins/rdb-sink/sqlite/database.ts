import { access, constants, readdir } from "node:fs/promises";
import { join } from "node:path";
import { AgentError, type Context, codeOf, type Examiner, type Probe, type QueryResult } from "deneb/sdk";
import type { ServerAddress } from "deneb/sql";
import type Database from "libsql";
import type { RdbConfig } from "../config.js";
import { postgresqlOptions } from "../postgresql/database.js";
import type { DatabaseKind } from "../server.js";
import { isFolder } from "./database-folder.js";
import { databaseUri } from "./database-uri.js";
import { sqlite } from "./dialect.js";
import { SqliteDriver } from "./driver.js";
import { schemaOf } from "./file-name.js";

export const sqliteDatabase: DatabaseKind = {
  dialect: sqlite,
  // SQLite has no connection options: those of the database that it stands for do no harm.
  optionNames: new Set(),
  options: (text) => ({ ...postgresqlOptions(text), unknown: [] }),
  server: addressOf,
  open: (config, context) => ({
    dialect: sqlite,
    driver: new SqliteDriver(folderOf(config, context)),
    server: addressOf(config, context),
    probes: (examiner, next) => sqliteProbes(folderOf(config, context), examiner, next),
  }),
  query: async (config, text, context) => await sqliteQuery(folderOf(config, context), text),
  mustBeThere: async (config, context) => {
    const folder = folderOf(config, context);
    if (await isFolder(folder)) return;
    const remedy = "give that of the agent: rdb_folder, or --data-dir or DENEB_DATA_DIR";
    const message = `there is no folder "${folder}" of database files; ${remedy}`;
    throw new AgentError("NO_DATABASE_FILES", message, { retryable: false });
  },
};

/** The system says by itself which file it refuses, and why. */
async function mayBeWritten(folder: string, file: string): Promise<void> {
  try {
    await access(join(folder, file), constants.R_OK | constants.W_OK);
  } catch (cause) {
    if (codeOf(cause) === "ENOENT") return;
    throw new AgentError("FILE_NOT_WRITABLE", `writing the database file "${file}"`, { cause, retryable: false });
  }
}

/** The folder; what is in it is read only when there is one, because a start would make it. */
function sqliteProbes(folder: string, examiner: Examiner, next: readonly Probe[]): readonly Probe[] {
  const isThere = async () => {
    const files = (await names(folder)).filter((file) => schemaOf(file) !== undefined);
    // A query of what is stored only reads them.
    for (const file of files) await mayBeWritten(folder, file);
    return files.length > 0;
  };
  const read = next.map(({ run, ...probe }): Probe => {
    const runIfThere: Probe["run"] = async (signal) =>
      (await isThere()) ? await run(signal) : { outcome: "ok", reason: "there are no database files yet" };
    return { ...probe, run: runIfThere };
  });
  return [{ ...examiner.folder(folder), next: read }];
}

function folderOf(config: RdbConfig, context: Context): string {
  return config.rdb_folder === "" ? context.dataDir : config.rdb_folder;
}

function addressOf(config: RdbConfig, context: Context): ServerAddress {
  return { address: folderOf(config, context), database: "", username: "", options: "" };
}

// A compile-time limit of SQLite.
const MOST_ATTACHED = 10;
const TAKEN_BY_SQLITE: ReadonlySet<string> = new Set(["main", "temp"]);

interface SchemaFile {
  readonly path: string;
  /** The schema name under which the file is attached. */
  readonly name: string;
}

/** Runs one query on the files of the folder, each attached under the name of its schema. */
export async function sqliteQuery(folder: string, text: string): Promise<QueryResult> {
  const files = await schemaFiles(folder);
  const { default: Files } = await import("libsql"); // Only where SQLite is used.
  const connection = new Files(":memory:");
  try {
    for (const { path, name } of chosen(files, text))
      connection.prepare("ATTACH ? AS ?").run([databaseUri(path), name]);
    connection.exec("PRAGMA query_only = on");
    return answer(connection, text);
  } finally {
    connection.close();
  }
}

async function schemaFiles(folder: string): Promise<readonly SchemaFile[]> {
  const found = (await names(folder)).sort().flatMap((file) => {
    const schema = schemaOf(file);
    return schema === undefined ? [] : { path: join(folder, file), schema };
  });
  const schemas = new Set(found.map(({ schema }) => schema));
  const files = found.map(({ path, schema }) => ({ path, name: attachedName(schema, schemas) }));
  if (files.length > 0) return files;
  const message = `querying the database files in "${folder}": there are none yet; a first stored notification makes one`;
  throw new AgentError("NO_DATABASE_FILES", message, { retryable: false });
}

function attachedName(schema: string, schemas: ReadonlySet<string>): string {
  if (!TAKEN_BY_SQLITE.has(schema)) return schema;
  let name = `${schema}_`;
  while (schemas.has(name)) name += "_";
  return name;
}

async function names(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  }
}

function chosen(files: readonly SchemaFile[], text: string): readonly SchemaFile[] {
  const named = qualifiers(text.toLowerCase());
  const first = files.filter(({ name }) => named.has(name));
  return [...first, ...files.filter(({ name }) => !named.has(name))].slice(0, MOST_ATTACHED);
}

/** Everything before a dot, quoted or not: the schemas of a query, and more. */
function qualifiers(text: string): ReadonlySet<string> {
  const found = text.matchAll(/"((?:[^"]|"")+)"\s*\.|([^\s".,()]+)\s*\./g);
  return new Set([...found].map(([, quoted, bare = ""]) => quoted?.replaceAll('""', '"') ?? bare));
}

function answer(connection: Database.Database, text: string): QueryResult {
  // SQLite would run the first one and say nothing of the others.
  if (hasSeveral(text)) throw notAQuery(text, "only one statement is allowed");
  const prepared = connection.prepare(text);
  if (!prepared.reader) throw notAQuery(text, "it is no query; only reading is allowed");
  const columns = prepared.columns().map(({ name }) => name);
  const rows = prepared.safeIntegers().raw().all();
  return { columns, rows: rows.map((row) => (Array.isArray(row) ? row.map(textOf) : [])) };
}

const COMMENT = /^(?:--|\/\*)/;
const COMMENT_OR_QUOTED = /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|'[^']*'|"[^"]*"|`[^`]*`|\[[^\]]*\]/g;

/** Whether something else than comments comes behind a semicolon. */
function hasSeveral(text: string): boolean {
  const bare = text.replace(COMMENT_OR_QUOTED, (part) => (COMMENT.test(part) ? " " : "x"));
  return /;\s*[^;\s]/.test(bare);
}

function notAQuery(text: string, reason: string): AgentError {
  return new AgentError("NOT_A_QUERY", `running "${text}": ${reason}`, { retryable: false });
}

function textOf(cell: unknown): string | undefined {
  if (cell === null || cell === undefined) return undefined;
  return Buffer.isBuffer(cell) ? cell.toString("hex") : String(cell);
}
