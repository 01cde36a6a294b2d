import type { Command } from "commander";
import { type PluginFlags, readKernelSettings } from "../configuration/schema/kernel-settings.js";
import type { ComponentNode } from "../configuration/topology.js";
import { silentLoggers } from "../logging/loggers.js";
import { AgentError, type AnyPlugin, type Context, type StoredData } from "../sdk/index.js";
import type { PluginCatalogue } from "../tokens.js";
import { exitCodes, type Terminal, withPlugins } from "./command.js";
import { dataDirFault, hasStore } from "./data-dir.js";
import { loadConfiguration, loadPlugins, printFaults, quickstartFile } from "./load.js";

/** The options that choose the sink of a command. */
export interface SinkOptions extends PluginFlags {
  readonly config?: string;
  readonly name?: string;
  readonly sink?: string;
  readonly dataDir?: string;
  readonly json?: boolean;
}

/** Adds the options of every command over the data of a sink. */
export function withSinkOptions(command: Command): Command {
  return withPlugins(command)
    .option(
      "-f, --config <file>",
      "the sink is one of this properties file (default: the embedded database of the quickstart)",
    )
    .option("-n, --name <agent>", "agent of the file, when it holds several")
    .option("-s, --sink <sink>", "sink of the agent, when it has several that can do this")
    .option("--data-dir <folder>", "data directory of the agent (default: data)")
    .option("--json", "print the answer as JSON");
}

/** A sink of the configuration. */
interface ChosenSink extends Pick<ComponentNode, "name" | "definition" | "config"> {
  readonly agent: string;
}

/** What a command needs of the sink that its options choose. */
interface ChosenParts {
  readonly sink: ChosenSink;
  readonly context: Context;
}

/** Finds the sink among those that `able` admits; undefined after a fault was printed, which is bad input. */
export async function chosenSink(
  options: SinkOptions,
  terminal: Terminal,
  able: (definition: AnyPlugin) => boolean,
): Promise<ChosenParts | undefined> {
  const { settings, faults } = readKernelSettings(options, terminal.env);
  printFaults(faults, terminal);
  if (settings === undefined) return undefined;
  if (!(await hasStore(options.config, settings.dataDir, terminal))) return undefined;
  const fault = options.dataDir === undefined ? undefined : dataDirFault(settings.dataDir);
  if (fault !== undefined) {
    terminal.err(`error: ${fault}`);
    return undefined;
  }
  const catalogue = await loadPlugins(settings, terminal, options.config);
  const sink = findSink(options, catalogue, { terminal, able });
  if (sink === undefined) return undefined;
  const { name, agent } = sink;
  const { dataDir } = settings;
  return { sink, context: { name, agent, log: silentLoggers.of(name), dataDir, run: "", now: () => new Date() } };
}

/** Opens the data of the sink that the options choose, runs the work, and closes it; resolves to the exit code. */
export async function onStoredData(
  options: SinkOptions,
  terminal: Terminal,
  work: (data: StoredData, sink: string) => Promise<number>,
): Promise<number> {
  const chosen = await chosenSink(options, terminal, ({ data }) => data !== undefined);
  if (chosen === undefined) return exitCodes.badInput;
  const { sink, context } = chosen;
  const data = await sink.definition.data?.(sink.config, context);
  if (data === undefined) throw cannot(sink.name);
  try {
    return await work(data, sink.name);
  } catch (error) {
    throw terminal.stopRequested.aborted ? stopped() : error;
  } finally {
    await data.close();
  }
}

/** What a stop aborted has reasons of many kinds, none of which says who asked for it. */
function stopped(): AgentError {
  return new AgentError("STOPPED", "stopped before it was done; what was done stays", { retryable: false });
}

/** The error for a sink whose data do not offer a command. */
export function cannot(sink: string): AgentError {
  return new AgentError("NOT_OFFERED", `sink "${sink}" does not offer this command`, { retryable: false });
}

/** Whether sinks have listed tables of all these names; else says which they have not. */
export async function areListed(
  names: readonly string[] | undefined,
  data: StoredData,
  { err, stopRequested }: Terminal,
): Promise<boolean> {
  if (names === undefined || data.tables === undefined) return true;
  const found = await data.tables({ tables: names }, stopRequested);
  const unlisted = names.filter((name) => found.every((table) => table.name !== name));
  for (const name of unlisted)
    err(`error: no sink has listed a table "${name}"; give a name as deneb tables list prints it`);
  return unlisted.length === 0;
}

interface Finding {
  readonly terminal: Terminal;
  readonly able: (definition: AnyPlugin) => boolean;
}

function findSink(
  options: SinkOptions,
  catalogue: PluginCatalogue,
  { terminal, able }: Finding,
): ChosenSink | undefined {
  const { config = quickstartFile, name: named } = options;
  const file = { config, ...(named === undefined ? {} : { name: named }) };
  const { topology, faults } = loadConfiguration(file, catalogue, terminal);
  printFaults(faults, terminal);
  if (topology === undefined) return undefined;
  const found = topology.sinks.filter(({ definition }) => able(definition));
  const chosen = options.sink === undefined ? found[0] : found.find(({ name }) => name === options.sink);
  if (chosen !== undefined && (options.sink !== undefined || found.length === 1))
    return { ...chosen, agent: topology.agent };
  const names = found.map(({ name }) => name).join(", ");
  terminal.err(`${config}: choose a sink with --sink; sinks with a database: ${names === "" ? "none" : names}`);
  return undefined;
}
