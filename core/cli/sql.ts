import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { readSettings } from "../configuration/schema/component-settings.js";
import { type PluginFlags, readKernelSettings } from "../configuration/schema/kernel-settings.js";
import type { ComponentNode } from "../configuration/topology.js";
import { silentLoggers } from "../logging/loggers.js";
import { AgentError, type Context, type QueryResult } from "../sdk/index.js";
import type { PluginCatalogue } from "../tokens.js";
import { type CommandContext, withPlugins } from "./command.js";
import { loadConfiguration, loadPlugins, printFaults } from "./load.js";
import { tableText } from "./table.js";
import { exitCodes, type Terminal } from "./terminal.js";

interface SqlOptions extends PluginFlags {
  readonly config?: string;
  readonly name?: string;
  readonly sink?: string;
  readonly dataDir?: string;
  readonly json?: boolean;
}

/** The sink that is queried when no file is given: the embedded database in the data directory. */
const embedded = { type: "rdb", settings: { rdb_dialect: "sqlite" } } as const;

export function define(command: Command, { terminal, exitWith }: CommandContext): void {
  withPlugins(command)
    .description("run one query on the embedded database, or on the database of a sink")
    .argument("<query>", "a reading SQL statement")
    .option("-f, --config <file>", "query the database of a sink of this properties file")
    .option("-n, --name <agent>", "agent of the file, when it holds several")
    .option("-s, --sink <sink>", "sink of the agent, when it has several with a database")
    .option("--data-dir <folder>", "data directory of the agent (default: data)")
    .option("--json", "print the rows as JSON")
    .action((query: string, options: SqlOptions) => exitWith(sql(query, options, terminal)));
}

/** `deneb sql`: runs one query on the embedded database, or on the database of a sink of a properties file. */
async function sql(query: string, options: SqlOptions, terminal: Terminal): Promise<number> {
  const { settings, faults } = readKernelSettings(options, terminal.env);
  printFaults(faults, terminal);
  if (settings === undefined) return exitCodes.badInput;
  const catalogue = await loadPlugins(settings, terminal, options.config);
  const target = findTarget(options, catalogue, terminal);
  if (target === undefined) return exitCodes.badInput;
  const context: Context = {
    name: target.name,
    log: silentLoggers.of(target.name),
    dataDir: settings.dataDir,
    run: "",
    now: () => new Date(),
  };
  const result = await target.definition.query?.(target.config, query, context);
  if (result === undefined) throw new AgentError("NO_QUERY", `sink "${target.name}" has no database to query`);
  terminal.out(options.json === true ? jsonText(result) : tableOf(result));
  return exitCodes.success;
}

type Target = Pick<ComponentNode, "name" | "definition" | "config">;

function findTarget(options: SqlOptions, catalogue: PluginCatalogue, terminal: Terminal): Target | undefined {
  if (options.config === undefined) return embeddedTarget(catalogue, terminal);
  const file = { config: options.config, ...(options.name === undefined ? {} : { name: options.name }) };
  const { topology, faults } = loadConfiguration(file, catalogue, terminal);
  printFaults(faults, terminal);
  if (topology === undefined) return undefined;
  const able = topology.sinks.filter(({ definition }) => definition.query !== undefined);
  const chosen = options.sink === undefined ? able[0] : able.find(({ name }) => name === options.sink);
  if (chosen !== undefined && (options.sink !== undefined || able.length === 1)) return chosen;
  const names = able.map(({ name }) => name).join(", ");
  terminal.err(`${options.config}: choose a sink with --sink; sinks with a database: ${names === "" ? "none" : names}`);
  return undefined;
}

function embeddedTarget(catalogue: PluginCatalogue, terminal: Terminal): Target | undefined {
  const definition = catalogue.find("sink", embedded.type);
  if (definition === undefined) throw new AgentError("NO_PLUGIN", `finding the plugin of sink "${embedded.type}"`);
  const lines = Object.entries(embedded.settings).map(
    ([key, value]) => [key, { key, value, line: undefined }] as const,
  );
  const block = { name: embedded.type, key: embedded.type, line: undefined, settings: new Map(lines) };
  const environment = { env: terminal.env, readFile: (file: string) => readFileSync(file, "utf8"), catalogue };
  const { config, faults } = readSettings(definition.config, block, environment);
  printFaults(faults, terminal);
  return config === undefined ? undefined : { name: embedded.type, definition, config };
}

function tableOf({ columns, rows }: QueryResult): string {
  const cells = rows.map((row) => row.map((value) => value ?? ""));
  return `${tableText(columns, cells)}\n(${rows.length} ${rows.length === 1 ? "row" : "rows"})`;
}

/** A list with one object for each row; a database null is a JSON null. */
function jsonText({ columns, rows }: QueryResult): string {
  const objects = rows.map((row) => Object.fromEntries(columns.map((column, index) => [column, row[index] ?? null])));
  return JSON.stringify(objects, undefined, 2);
}
