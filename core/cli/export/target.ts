import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import path from "node:path";
import { makeFolder } from "../../files/make-folder.js";
import { counted } from "../../sdk/counted.js";
import { AgentError, codeOf, type StoredRows, type StoredTable } from "../../sdk/index.js";
import type { Terminal } from "../command.js";
import { FilesAside } from "./files.js";
import type { Rows } from "./formats.js";
import { type Format, type Written, writeTable, writeText } from "./write-table.js";

interface TargetOptions {
  readonly output: string;
  readonly overwrite?: boolean;
}

/** Where rows are written. Tables without rows are passed over. */
export class Target {
  /** Whether each table has a file of its own. */
  readonly isFolder: boolean;
  tables = 0;
  rows = 0;
  readonly files: FilesAside;
  readonly #output: string;
  readonly #format: Format;
  #first: string | undefined;

  constructor(options: TargetOptions, format: Format, isFolder: boolean) {
    this.#output = options.output;
    this.files = new FilesAside(options.overwrite === true);
    this.#format = format;
    this.isFolder = isFolder;
  }

  async write({ table, columns, rows }: StoredRows, terminal: Terminal): Promise<void> {
    const pages = rows[Symbol.asyncIterator]();
    const first = await pages.next();
    if (first.done === true || first.value.length === 0) return;
    const written = { columns, pages: resumed(first.value, pages), again: () => rows };
    if (this.#first !== undefined && !this.isFolder) throw severalTables(this.#first, table);
    this.#first ??= table.name;
    const count = await this.#written(written, table, terminal);
    this.tables += 1;
    this.rows += count;
    if (this.isFolder) terminal.err(`${table.name}: ${counted(count, "row")}`);
  }

  async #written(
    written: Omit<Written, "format">,
    table: StoredTable,
    { bytes = process.stdout, screen }: Terminal,
  ): Promise<number> {
    const format = this.#format;
    if (this.#output === "-" && format !== "parquet") {
      return await writeText({ ...written, format }, () => bytes, { end: false, isScreen: screen !== undefined });
    }
    const file = this.isFolder ? path.join(this.#output, fileNameOf(table, format)) : this.#output;
    return await this.files.write(file, (temporary) => writeTable(temporary, { ...written, format }));
  }
}

/** A directory takes a file of each table. */
export async function targetOf(options: TargetOptions, format: Format): Promise<Target> {
  const { output } = options;
  const isFolder = output !== "-" && (/[/\\]$/.test(output) || (await isDirectory(output)));
  if (isFolder) await makeFolder(output, 0o700);
  return new Target(options, format, isFolder);
}

async function isDirectory(file: string): Promise<boolean> {
  try {
    return (await stat(file)).isDirectory();
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}

async function* resumed(first: Rows, pages: AsyncIterator<Rows>): AsyncGenerator<Rows> {
  yield first;
  for (let next = await pages.next(); next.done !== true; next = await pages.next()) yield next.value;
}

/** What file systems take, less what the name has while the file is written. */
const MOST_CHARACTERS = 200;

/**
 * No two tables have the same: a dot, a slash or a percent sign in a name is encoded, and one that is too long for a file is cut
 * and ends in a hash.
 */
function fileNameOf({ database, schema, table }: StoredTable, format: Format): string {
  const parts = [...new Set([database, schema])].filter((part) => part !== "");
  const name = [...parts, table].map((part) => encodeURIComponent(part).replaceAll(".", "%2E")).join(".");
  const hash = createHash("sha256").update(name).digest("hex").slice(0, 16);
  return `${name.length <= MOST_CHARACTERS ? name : `${name.slice(0, MOST_CHARACTERS - 17)}_${hash}`}.${format}`;
}

export function severalTables(first: string, { name }: StoredTable): AgentError {
  const message = `writing the rows of table "${name}" behind those of "${first}": a file holds one table`;
  return new AgentError("SEVERAL_TABLES", `${message}; give a directory with --output, or one table with --table`, {
    retryable: false,
  });
}
