import type { Command } from "commander";
import { counted } from "../sdk/counted.js";
import { AgentError, type QueryResult } from "../sdk/index.js";
import { type CommandContext, exitCodes, type Terminal } from "./command.js";
import { chosenSink, type SinkOptions, withSinkOptions } from "./stored-data.js";
import { tableText } from "./table.js";

export function define(command: Command, { terminal, exitWith }: CommandContext): void {
  withSinkOptions(command)
    .description("run one query on the embedded database, or on the database of a sink")
    .argument("<query>", "a reading SQL statement")
    .action((query: string, options: SinkOptions) => exitWith(sql(query, options, terminal)));
}

/** `deneb sql`: runs one query on the embedded database, or on the database of a sink of a properties file. */
async function sql(query: string, options: SinkOptions, terminal: Terminal): Promise<number> {
  const word = CHANGING.exec(query)?.[1];
  if (word !== undefined) {
    const remedy =
      "only queries are allowed, such as select; deneb erase removes what is stored of an entity or a service";
    terminal.err(`error: running "${query}": ${word.toUpperCase()} changes data or the database; ${remedy}`);
    return exitCodes.badInput;
  }
  const chosen = await chosenSink(options, terminal, (definition) => definition.query !== undefined);
  if (chosen === undefined) return exitCodes.badInput;
  const { sink, context } = chosen;
  const result = await sink.definition.query?.(sink.config, query, context);
  if (result === undefined)
    throw new AgentError("NO_QUERY", `sink "${sink.name}" has no database to query`, { retryable: false });
  terminal.out(options.json === true ? jsonText(result) : tableOf(result));
  return exitCodes.success;
}

/** The first word of a statement that changes something, behind comments; what else does so the database refuses. */
const CHANGING =
  /^(?:[\s;(]|--[^\n]*(?:\n|$)|\/\*(?:[^*]|\*(?!\/))*\*\/)*(alter|call|comment|commit|copy|create|delete|do|drop|grant|insert|lock|merge|reindex|rename|replace|revoke|rollback|begin|truncate|update|upsert|vacuum)\b/i;

function tableOf({ columns, rows }: QueryResult): string {
  const cells = rows.map((row) => row.map((value) => value ?? ""));
  return `${tableText(columns, cells)}\n(${counted(rows.length, "row")})`;
}

/** A list with one object for each row; a database null is a JSON null. */
function jsonText({ columns, rows }: QueryResult): string {
  const objects = rows.map((row) => Object.fromEntries(columns.map((column, index) => [column, row[index] ?? null])));
  return JSON.stringify(objects, undefined, 2);
}
