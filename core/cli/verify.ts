import type { Command } from "commander";
import { agentContainer } from "../agent/container.js";
import type { Verification } from "../agent/verification/verification.js";
import { verifyStopped } from "../agent/verification/verify-stopped.js";
import { type KernelSettings, type PluginFlags, readKernelSettings } from "../configuration/schema/kernel-settings.js";
import type { Topology } from "../configuration/topology.js";
import { pinoRoot, RunningLoggers, silentLoggers } from "../logging/loggers.js";
import { mergedVerification } from "../management/workers/joined/verification.js";
import { counted } from "../sdk/counted.js";
import { isRecord } from "../sdk/event.js";
import { codeOf, reasonOf } from "../sdk/index.js";
import type { Loggers } from "../tokens.js";
import { askManagement } from "./ask-management.js";
import { otherAgentFault, whereNoneAnswers } from "./asked-agent.js";
import { type CommandContext, exitCodes, type Terminal, withPlugins, withStoredConfiguration } from "./command.js";
import { dataDirFault, hasStore } from "./data-dir.js";
import { type ConfigurationFile, loadConfiguration, loadPlugins, printFaults, quickstartFile } from "./load.js";
import { type ManagementAddressOptions, managementAddress, withManagementAddress } from "./management-address.js";

interface VerifyOptions extends PluginFlags, ManagementAddressOptions, Partial<ConfigurationFile> {
  readonly dataDir?: string;
  readonly json?: boolean;
}

export function define(command: Command, { terminal, exitWith }: CommandContext): void {
  withPlugins(withManagementAddress(withStoredConfiguration(command)))
    .option("--data-dir <folder>", "data directory of the agent, used if it is stopped (default: data)")
    .option("--json", "print the result as JSON")
    .action((options: VerifyOptions) => exitWith(verify(options, terminal)));
}

/**
 * `deneb verify`: compares the ledger with the channels and the stores, by the agent that runs or, when none answers, from
 * its data directory. 0 when nothing differs, 1 when something does, 2 when it cannot be asked.
 */
async function verify(options: VerifyOptions, terminal: Terminal): Promise<number> {
  const { settings, faults } = readKernelSettings({ ...options, logLevel: undefined }, terminal.env);
  printFaults(faults, terminal);
  if (settings === undefined) return exitCodes.badInput;
  let result: Members | undefined;
  try {
    const address = managementAddress(options, settings, terminal);
    const fault = await otherAgentFault(address, options);
    if (fault !== undefined) {
      terminal.err(`error: ${fault}`);
      return exitCodes.badInput;
    }
    const { body, failure } = await askManagement(address, "GET", "/v1/admin/verify");
    if (failure !== undefined) {
      terminal.err(failure);
      return exitCodes.badInput;
    }
    result = objectIn(body["verification"]);
  } catch (error) {
    if (codeOf(error) !== "NO_AGENT") {
      terminal.err(`error: ${reasonOf(error)}`);
      return exitCodes.badInput;
    }
    return await stopped(options, settings, { terminal, noAgent: error });
  }
  return print(result ?? {}, options, terminal);
}

async function stopped(
  options: VerifyOptions,
  settings: KernelSettings,
  { terminal, noAgent }: { readonly terminal: Terminal; readonly noAgent: unknown },
): Promise<number> {
  if (!(await hasStore(options.config, settings.dataDir, terminal))) return exitCodes.badInput;
  const catalogue = await loadPlugins(settings, terminal, options.config);
  const { topology, faults } = loadConfiguration({ config: quickstartFile, ...options }, catalogue, terminal);
  printFaults(faults, terminal);
  if (topology === undefined) return exitCodes.badInput;
  const { dataDir, lockWaitSeconds: lockWait } = settings;
  const fault = dataDirFault(dataDir);
  if (fault !== undefined) {
    terminal.err(`error: no agent answers, and ${fault}`);
    return exitCodes.badInput;
  }
  const results: VerificationOfWorker[] = [];
  const loggers = channelsAloud(topology, terminal);
  const locked = await whereNoneAnswers(noAgent, settings, terminal, async (workers) => {
    try {
      for (const { number: worker, folder } of workers) {
        const container = agentContainer({ topology, dataDir: folder, loggers, lockWait });
        results.push({ worker, result: await verifyStopped(container, silentLoggers.of("verify")) });
      }
      return exitCodes.success;
    } catch (error) {
      terminal.err(`error: ${reasonOf(error)}`);
      return exitCodes.failure;
    }
  });
  if (locked !== exitCodes.success) return exitCodes.badInput;
  return print(ofAll(results), options, terminal);
}

/**
 * Loggers that print the warnings and errors of channels. What one finds missing at this opening it knows at the next one, the start
 * of the agent, and does not say again.
 */
function channelsAloud({ agent, channels }: Pick<Topology, "agent" | "channels">, terminal: Terminal): Loggers {
  const destination = { write: (line: string) => terminal.err(entryText(line)) };
  const loggers = new RunningLoggers(pinoRoot(destination, { agent }), { root: "WARN", own: new Map() });
  const names = new Set(channels.map(({ name }) => name));
  return { of: (component) => (names.has(component) ? loggers : silentLoggers).of(component) };
}

/** `error: channel "c": events are missing (file=/data/1.log, events=3)`. */
function entryText(line: string): string {
  const { level, component, msg, time: _, agent: __, ...fields } = objectIn(JSON.parse(line)) ?? {};
  const told = Object.entries(fields).map(([name, value]) => `${name}=${String(value)}`);
  return `${level}: channel "${component}": ${msg}${told.length === 0 ? "" : ` (${told.join(", ")})`}`;
}

/** An object as JSON says it. */
type Members = Readonly<Record<string, unknown>>;

interface VerificationOfWorker {
  readonly worker: number;
  readonly result: Verification;
}

/** As the supervisor of the workers would answer. */
function ofAll(results: readonly VerificationOfWorker[]): Members {
  const [first] = results;
  if (first !== undefined && results.length === 1) return { ...first.result };
  const told = results.map(({ worker: number, result }) => {
    return { worker: { number }, body: { verification: JSON.parse(JSON.stringify(result)) } };
  });
  return objectIn(mergedVerification(told, [])["verification"]) ?? {};
}

function print(result: Members, { json = false }: VerifyOptions, terminal: Terminal): number {
  const differences = textsIn(result, "differences");
  const unknown = textsIn(result, "unknown");
  if (json) terminal.out(JSON.stringify(result));
  else {
    for (const channel of listIn(result, "channels")) terminal.out(lineOf(channel));
    for (const table of listIn(result, "tables")) terminal.out(tableLine(table));
    for (const note of textsIn(result, "notes")) terminal.out(`note: ${note}`);
  }
  for (const text of unknown) terminal.err(`unknown: ${text}`);
  for (const text of differences) terminal.err(`difference: ${text}`);
  if (differences.length > 0) return exitCodes.failure;
  if (unknown.length > 0) return exitCodes.badInput;
  const isAll = listIn(result, "channels").every((channel) => objectIn(channel["store"]) !== undefined);
  if (!json) terminal.out(isAll ? "nothing differs" : "nothing differs in what was compared");
  return exitCodes.success;
}

const counts = ["received", "stored", "dead_lettered", "filtered", "uncounted", "lost", "waiting", "unaccounted"];

function lineOf(channel: Members): string {
  const books = counts.map((name) => `${name} ${textOf(channel, name)}`).join(", ");
  const store = objectIn(channel["store"]);
  const compared =
    store === undefined ? "stores not compared" : `stores ${textOf(store, "events")} of ${textOf(store, "expected")}`;
  return `channel ${textOf(channel, "name")}: ${books}; ${compared}`;
}

function tableLine(table: Members): string {
  if (table["rows"] === undefined) {
    const reason = "it is locked, or too large to be counted in time";
    return `sink ${textOf(table, "sink")}: rows of table ${textOf(table, "table")} not counted: ${reason}`;
  }
  return `sink ${textOf(table, "sink")}: table ${textOf(table, "table")} has ${counted(Number(table["rows"]), "row")}`;
}

function textOf(from: Members, name: string): string {
  return String(from[name] ?? "unknown");
}

function listIn(from: Members, name: string): readonly Members[] {
  const list = from[name];
  return Array.isArray(list) ? list.filter(isRecord) : [];
}

function textsIn(from: Members, name: string): readonly string[] {
  const list = from[name];
  return Array.isArray(list) ? list.map(String) : [];
}

function objectIn(value: unknown): Members | undefined {
  return isRecord(value) ? value : undefined;
}
