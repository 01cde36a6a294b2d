import type { Command } from "commander";
import type { PluginFlags } from "../configuration/schema/kernel-settings.js";
import { givenTime } from "../pipeline/given-time.js";
import { counted } from "../sdk/counted.js";
import { codeOf, type RowSelection, type StoredRows, type StoredTable } from "../sdk/index.js";
import {
  type CommandContext,
  choice,
  exitCodes,
  type Terminal,
  withPlugins,
  withStoredConfiguration,
} from "./command.js";
import type { Rows } from "./export/formats.js";
import { severalTables, type Target, targetOf } from "./export/target.js";
import type { Format } from "./export/write-table.js";
import type { ConfigurationFile } from "./load.js";
import { areListed, cannot, onStoredData } from "./stored-data.js";

interface ExportOptions extends PluginFlags, Partial<ConfigurationFile> {
  readonly sink?: string;
  readonly dataDir?: string;
  readonly entity?: string;
  readonly service?: string;
  readonly table?: readonly string[];
  readonly from?: string;
  readonly to?: string;
  readonly format?: string;
  readonly output: string;
  readonly overwrite?: boolean;
}

export function define(command: Command, { terminal, exitWith }: CommandContext): void {
  withPlugins(withStoredConfiguration(command))
    .option("-s, --sink <sink>", "sink of the agent, when it has several with a database")
    .option("--data-dir <folder>", "data directory of the agent (default: data)")
    .option("--entity <id>", "rows of the entity with this id, as in its notifications")
    .option("--service <service>", "rows of this service")
    .option("--table <table...>", "only these tables, as deneb tables list shows them")
    .option("--from <time>", "rows that were received then or later, as 2026-01-31T08:00:00Z")
    .option("--to <time>", "rows that were received earlier than then")
    .addOption(choice("--format <format>", "format of the file (default: by its name, else csv)", formats))
    .option("-o, --output <file>", "a file, a directory for a file of each table, or - for the output", "-")
    .option("--overwrite", "replace existing files")
    .action((options: ExportOptions) => exitWith(exportRows(options, terminal)));
}

const formats: readonly Format[] = ["csv", "ndjson", "parquet"];

/** `deneb export`: writes the rows of tables to files. 0 when all is written, 5 when tables were left out. */
async function exportRows(options: ExportOptions, terminal: Terminal): Promise<number> {
  const read = readOptions(options);
  if (typeof read === "string") {
    terminal.err(`error: ${read}`);
    return exitCodes.badInput;
  }
  return await untilNobodyReads(options, async () => await written(options, read, terminal));
}

/** Whoever reads the output may go away, as in `deneb export | head`. */
async function untilNobodyReads({ output }: ExportOptions, work: () => Promise<number>): Promise<number> {
  try {
    return await work();
  } catch (error) {
    if (output === "-" && codeOf(error) === "EPIPE") return exitCodes.success;
    throw error;
  }
}

async function written(options: ExportOptions, read: ReadOptions, terminal: Terminal): Promise<number> {
  return await onStoredData(options, terminal, async (data, sink) => {
    const rowsOf = data.rows?.bind(data);
    if (rowsOf === undefined) throw cannot(sink);
    if (!(await areListed(options.table, data, terminal))) return exitCodes.badInput;
    const tables = () => rowsOf(read.selection, terminal.stopRequested);
    const target = await targetOf(options, read.format);
    if (!target.isFolder) await refuseSeveral(tables());
    const skipped = await writeAll(tables(), target, terminal);
    const summary = `${counted(target.rows, "row")} of ${counted(target.tables, "table")}`;
    terminal.err(target.tables === 0 ? "no rows; nothing is written" : summary);
    return skipped === 0 ? exitCodes.success : exitCodes.leftOut;
  });
}

/** Resolves to the number of tables that were left out. */
async function writeAll(tables: AsyncIterable<StoredRows>, target: Target, terminal: Terminal): Promise<number> {
  let skipped = 0;
  try {
    for await (const rows of tables) {
      if (rows.skipped !== undefined) {
        skipped += 1;
        terminal.err(`left out: ${rows.table.name}: ${rows.skipped}`);
      } else await target.write(rows, terminal);
    }
    await target.files.name();
  } finally {
    await target.files.clear();
  }
  return skipped;
}

/** A file holds one table. That there is one, and that all can be read, shows before the first row is written. */
async function refuseSeveral(tables: AsyncIterable<StoredRows>): Promise<void> {
  const found: StoredRows[] = [];
  for await (const table of tables) if (table.skipped === undefined) found.push(table);
  if (found.length === 1) return;
  let first: StoredTable | undefined;
  for (const { table, rows } of found) {
    if (!(await areSome(rows))) continue;
    if (first !== undefined) throw severalTables(first.name, table);
    first = table;
  }
}

async function areSome(rows: AsyncIterable<Rows>): Promise<boolean> {
  for await (const page of rows) if (page.length > 0) return true;
  return false;
}

interface ReadOptions {
  readonly selection: RowSelection;
  readonly format: Format;
}

/** A text says what is wrong. */
function readOptions({ entity, service, table, from, to, format, output }: ExportOptions): ReadOptions | string {
  const wrong = [from, to].find((text) => text !== undefined && Number.isNaN(givenTime(text).getTime()));
  if (wrong !== undefined) return `"${wrong}" is no time; give one as 2026-01-31T08:00:00Z`;
  if (entity === "" || service === "") return "--entity and --service need a value";
  const named = formats.find((one) => output.endsWith(`.${one}`)) ?? "csv";
  const chosen = format === undefined ? named : formats.find((one) => one === format);
  if (chosen === undefined) return `--format "${format}" is not one of ${formats.join(", ")}`;
  if (chosen === "parquet" && output === "-") return "Parquet is written to files; give --output";
  const selection = {
    ...(entity === undefined ? {} : { entity }),
    ...(service === undefined ? {} : { service }),
    ...(table === undefined ? {} : { tables: table }),
    ...(from === undefined ? {} : { from: givenTime(from) }),
    ...(to === undefined ? {} : { to: givenTime(to) }),
  };
  return { selection, format: chosen };
}
