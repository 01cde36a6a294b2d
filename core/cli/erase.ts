import type { Command } from "commander";
import { readKernelSettings } from "../configuration/schema/kernel-settings.js";
import { counted } from "../sdk/counted.js";
import type { StoredSelection } from "../sdk/index.js";
import { type CommandContext, exitCodes, type Terminal, withPlugins, withStoredConfiguration } from "./command.js";
import { hasStore } from "./data-dir.js";
import type { EraseCall, EraseOptions } from "./erase-call.js";
import { type AgentPart, eraseInAgent } from "./erase-in-agent.js";
import { eraseInStores, type StoresErasure } from "./erase-in-stores.js";
import { loadConfiguration, loadPlugins, printFaults, quickstartFile } from "./load.js";
import { withManagementAddress } from "./management-address.js";

export function define(command: Command, { terminal, exitWith }: CommandContext): void {
  withPlugins(withManagementAddress(withStoredConfiguration(command)))
    .option("--entity <id>", "the entity with this id, as in its notifications")
    .option("--service <service>", "this service; with --entity: the entity in this service")
    .option("--table <table...>", "only these tables, as deneb tables list shows them")
    .option("--yes", "erase; without it the command only reports what it would erase")
    .option("--data-dir <folder>", "data directory of the agent, used if it is stopped (default: data)")
    .option("--json", "print the report as JSON")
    .action((options: EraseOptions) => exitWith(erase(options, terminal)));
}

/**
 * `deneb erase`: what an agent has stored of an entity or a service, and what it holds of it. First what is not stored, by
 * the agent that runs or in its data directory, then the tables: nothing can come from the one to the other.
 */
async function erase(options: EraseOptions, terminal: Terminal): Promise<number> {
  const selection = selectionOf(options);
  const empty = Object.values(selection).some((value) => value === "");
  if (empty || Object.keys(selection).length === 0) {
    terminal.err("error: give --entity, --service or --table, with a value");
    return exitCodes.badInput;
  }
  const { settings, faults } = readKernelSettings({ ...options, logLevel: undefined }, terminal.env);
  printFaults(faults, terminal);
  if (settings === undefined) return exitCodes.badInput;
  if (!(await hasStore(options.config, settings.dataDir, terminal))) return exitCodes.badInput;
  const catalogue = await loadPlugins(settings, terminal, options.config);
  const { topology, faults: found } = loadConfiguration({ config: quickstartFile, ...options }, catalogue, terminal);
  printFaults(found, terminal);
  if (topology === undefined) return exitCodes.badInput;
  const call = { selection, dryRun: options.yes !== true, topology, settings, options, terminal };
  return await eraseInAgent(call, async (agent) => {
    return print({ agent, ...(await eraseInStores(call)) }, call);
  });
}

function selectionOf({ entity, service, table }: EraseOptions): StoredSelection {
  return {
    ...(entity === undefined ? {} : { entity }),
    ...(service === undefined ? {} : { service }),
    ...(table === undefined ? {} : { tables: table }),
  };
}

interface Report extends StoresErasure {
  readonly agent: AgentPart;
}

/** 0 when nothing is left, 5 when something is. */
function print(report: Report, { options, dryRun, terminal }: EraseCall): number {
  const left = leftTexts(report);
  if (options.json === true) {
    const { agent, stores: sinks, unknown: unknown_tables } = report;
    terminal.out(JSON.stringify({ dry_run: dryRun, complete: left.length === 0, ...agent, sinks, unknown_tables }));
  } else {
    for (const line of lines(report, dryRun)) terminal.out(line);
    for (const text of left) terminal.err(`left: ${text}`);
    if (dryRun) terminal.out("dry run: nothing is erased; give --yes to erase");
  }
  return left.length === 0 ? exitCodes.success : exitCodes.leftOut;
}

function lines({ agent, stores }: Report, dryRun: boolean): readonly string[] {
  const verb = dryRun ? "would be erased" : "erased";
  const tables = stores.flatMap(({ sink, erased }) => erased.map((one) => ({ sink, ...one })));
  const rows = tables.reduce((sum, one) => sum + one.rows, 0);
  const waiting = agent.channels.filter((one) => one.waiting !== 0);
  const untouched = stores.flatMap(({ sink, untouched: some }) => some.map((one) => ({ sink, ...one })));
  return [
    ...tables.map((one) => `sink ${one.sink}: table ${one.table} (${one.kind}): ${counted(one.rows, "row")} ${verb}`),
    `${counted(rows, "row")} and ${counted(agent.dead_letters, "dead letter")} ${verb}`,
    ...waiting.map((one) => `channel ${one.channel}: ${waitingText(one.waiting)}; ${whatOfThem(dryRun)}`),
    ...[...agent.notes, ...stores.flatMap(({ notes }) => notes)].map((note) => `note: ${note}`),
    ...untouched.map((one) => `not touched: ${one.name} (sink ${one.sink}: ${one.reason})`),
  ];
}

function waitingText(waiting: number | undefined): string {
  if (waiting === undefined) return "an unknown number of events wait";
  return waiting === 1 ? "1 event waits" : `${waiting} events wait`;
}

function whatOfThem(dryRun: boolean): string {
  return dryRun ? "those to erase would not be stored" : "those to erase are not stored any more";
}

function leftTexts({ agent, stores, unknown }: Report): readonly string[] {
  const batch = "has a batch in hand that it may store later; repeat the command when it is stored";
  return [
    ...agent.unsettled.map((sink) => `sink ${sink} ${batch}`),
    ...stores.flatMap(({ sink, left }) => left.map(({ name, reason }) => `${name} of sink ${sink}: ${reason}`)),
    ...unknown.map(
      (name) => `table ${name}: no sink of the file has listed a table of that name; see deneb tables list`,
    ),
  ];
}
