import { type Command, Option } from "commander";
import { counted } from "../sdk/counted.js";
import type { AdoptRequest, StoredSelection, StoredTable, TableResult } from "../sdk/index.js";
import { type CommandContext, exitCodes, type Terminal } from "./command.js";
import { definePartition } from "./partition-tables.js";
import { areListed, cannot, onStoredData, type SinkOptions, withSinkOptions } from "./stored-data.js";
import { tableText } from "./table.js";

/** `deneb tables`: one sub-command for each thing that is done with the tables of a sink. */
export function define(command: Command, context: CommandContext): void {
  const { terminal, exitWith } = context;
  definePartition(command, context);
  withSelection(
    withSinkOptions(command.command("list").description("list the tables that sinks have made or written to")),
  )
    .argument("[tables...]", "names of tables, as the list shows them; none: all")
    .action((tables: readonly string[], options: ListOptions) => exitWith(list(tables, options, terminal)));
  withSinkOptions(
    command
      .command("adopt")
      .description("list older tables under a sink, so that it deletes their old rows; without --yes a dry run"),
  )
    .argument(
      "[tables...]",
      "names of tables, as [database.]schema.table; a schema or database with a dot is in quotes",
    )
    .option("--schema <schema...>", "all tables of these schemas that have the columns of a layout")
    .option("--from-others", "tables that another sink has listed, too")
    .addOption(
      new Option("--kind <kind>", "what the tables keep (default: by the suffix of the name)").choices(
        Object.keys(kinds),
      ),
    )
    .option("--yes", "list them")
    .action((tables: readonly string[], options: AdoptOptions) => exitWith(adopt(tables, options, terminal)));
}

interface ListOptions extends SinkOptions {
  readonly entity?: string;
  readonly service?: string;
}

function withSelection(command: Command): Command {
  return command
    .option("--entity <id>", "tables that may hold this entity")
    .option("--service <service>", "tables of this service");
}

async function list(names: readonly string[], options: ListOptions, terminal: Terminal): Promise<number> {
  return await onStoredData(options, terminal, async (data, sink) => {
    if (data.tables === undefined) throw cannot(sink);
    if (names.length > 0 && !(await areListed(names, data, terminal))) return exitCodes.badInput;
    const { entity, service } = options;
    const selection: StoredSelection = {
      ...(entity === undefined ? {} : { entity }),
      ...(service === undefined ? {} : { service }),
      ...(names.length === 0 ? {} : { tables: names }),
    };
    const tables = await data.tables(selection, terminal.stopRequested);
    terminal.out(options.json === true ? JSON.stringify(tables, undefined, 2) : listText(tables));
    return exitCodes.success;
  });
}

const head = [
  "table",
  "agent",
  "sink",
  "kind",
  "type",
  "subject",
  "service",
  "path",
  "first write",
  "last write",
  "partitions",
  "rows",
] as const;

function listText(tables: readonly StoredTable[]): string {
  const rows = tables.map((table) =>
    [
      table.name,
      table.agent,
      table.sink,
      table.kind,
      table.entityType,
      table.subject,
      table.service,
      table.servicePath,
      table.firstWrite,
      table.lastWrite,
      table.partitions,
      table.rows,
    ].map((cell) => String(cell ?? "")),
  );
  const notes = new Set(
    tables.flatMap(({ schema, note }) => (note === undefined ? [] : [`note: schema ${schema}: ${note}`])),
  );
  return [tableText(head, rows), `(${counted(rows.length, "table")})`, ...notes].join("\n");
}

const kinds = { history: "history", "last-data": "last data" } as const;

interface AdoptOptions extends SinkOptions {
  readonly schema?: readonly string[];
  readonly fromOthers?: boolean;
  readonly kind?: keyof typeof kinds;
  readonly yes?: boolean;
}

/** `deneb tables adopt`: fails if a table was refused; the others are listed nevertheless. */
async function adopt(tables: readonly string[], options: AdoptOptions, terminal: Terminal): Promise<number> {
  const { schema: schemas = [], fromOthers = false, kind, yes = false } = options;
  if (tables.length + schemas.length === 0) {
    terminal.err("name tables, or give --schema");
    return exitCodes.badInput;
  }
  const request: AdoptRequest = { tables, schemas, fromOthers, ...(kind === undefined ? {} : { kind: kinds[kind] }) };
  return await onStoredData(options, terminal, async (data, sink) => {
    if (data.adopt === undefined) throw cannot(sink);
    const results = await data.adopt(request, !yes, terminal.stopRequested);
    terminal.out(options.json === true ? JSON.stringify(results, undefined, 2) : resultText(results, yes));
    return results.some(({ outcome }) => outcome === "refused") ? exitCodes.failure : exitCodes.success;
  });
}

/** The results of a command for tables. */
function resultText(results: readonly TableResult[], changed: boolean): string {
  const rows = results.map(({ name, outcome, reason = "" }) => [name, outcome, reason]);
  const done = results.filter(({ outcome }) => outcome === "done").length;
  const tables = counted(done, "table");
  return `${tableText(["table", "outcome", "reason"], rows)}\n${changed ? tables : `dry run: ${tables}; --yes does it`}`;
}
