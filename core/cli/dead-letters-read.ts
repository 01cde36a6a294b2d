import path from "node:path";
import type { Command } from "commander";
import { kernelFiles } from "../agent/kernel-files.js";
import { type KernelSettings, readKernelSettings } from "../configuration/schema/kernel-settings.js";
import {
  type ChoiceText,
  choiceNames,
  isChosen,
  type LetterChoice,
  readChoice,
  subjectOf,
} from "../pipeline/dead-letters/choice.js";
import { DeadLetters, type OpenLetter } from "../pipeline/dead-letters/dead-letters.js";
import { readAccounts } from "../pipeline/ledger-file.js";
import { AgentError } from "../sdk/index.js";
import type { ManagementAddress } from "./ask-management.js";
import { otherAgentFault } from "./asked-agent.js";
import { choice, exitCodes, type Terminal } from "./command.js";
import { dataDirFault } from "./data-dir.js";
import { letterOfAgent, lettersOfAgent } from "./letters-of-agent.js";
import { agentsIn, type ConfigurationFile, printFaults } from "./load.js";
import {
  type ManagementAddressOptions,
  managementAddress,
  namesAgent,
  withManagementAddress,
} from "./management-address.js";
import { tableText } from "./table.js";
import { workersIn } from "./workers/folders.js";

/** `deneb dead-letters list`: those in a data directory, or those of a running agent when an option names one. */
export async function listDeadLetters(options: DeadLetterOptions, terminal: Terminal): Promise<number> {
  const settings = settingsOf(options, terminal);
  const choice = readFilter(options, terminal);
  if (settings === undefined || choice === undefined) return exitCodes.badInput;
  if (!(await isOfFile(options, settings, terminal))) return exitCodes.badInput;
  const letters = namesAgent(options) ? await askedFor(options, settings, terminal) : await keptIn(settings, choice);
  terminal.out(options.json === true ? JSON.stringify(letters, undefined, 2) : tableOf(letters));
  return exitCodes.success;
}

/** Whether an agent that an option names is that of the properties file, if there is one; else says what is wrong. */
async function isOfFile(options: DeadLetterOptions, settings: KernelSettings, terminal: Terminal): Promise<boolean> {
  const { config, name } = options;
  if (namesAgent(options))
    return await isAgentOfFile(options, managementAddress(options, settings, terminal), terminal);
  const agents = config === undefined ? [] : agentsIn({ config, ...(name === undefined ? {} : { name }) });
  if (typeof agents !== "string") return true;
  terminal.err(`error: ${agents}`);
  return false;
}

/** The same of an agent with this address. */
export async function isAgentOfFile(
  options: DeadLetterOptions,
  address: ManagementAddress,
  terminal: Terminal,
): Promise<boolean> {
  const fault = await otherAgentFault(address, options);
  if (fault !== undefined) terminal.err(`error: ${fault}`);
  return fault === undefined;
}

async function keptIn(settings: KernelSettings, choice: LetterChoice): Promise<readonly Shown[]> {
  const letters: Shown[] = [];
  for (const kept of await lettersIn(settings, choice.sink))
    for await (const letter of kept.open(choice.sink)) if (isChosen(choice, letter)) letters.push(shown(letter));
  return letters;
}

/** `deneb dead-letters show`: one dead letter with its event. */
export async function showDeadLetter(id: string, options: DeadLetterOptions, terminal: Terminal): Promise<number> {
  const settings = settingsOf(options, terminal);
  if (settings === undefined || !(await isOfFile(options, settings, terminal))) return exitCodes.badInput;
  const letter = namesAgent(options)
    ? await letterOfAgent(managementAddress(options, settings, terminal), id)
    : await found(id, settings);
  terminal.out(JSON.stringify(letter, undefined, 2));
  return exitCodes.success;
}

async function found(id: string, settings: KernelSettings): Promise<Shown> {
  for (const kept of await lettersIn(settings)) {
    const letter = await kept.find(id);
    if (letter !== undefined) return { ...shown(letter), event: letter.event };
  }
  throw new AgentError("UNKNOWN_LETTER", `dead letter "${id}" is not in "${settings.dataDir}"; see dead-letters list`, {
    retryable: false,
  });
}

/** The members of a letter, as they are printed. */
type Shown = Readonly<Record<string, unknown>>;

function shown(letter: OpenLetter): Shown {
  const { event: _event, ...rest } = letter;
  return { ...rest, ...subjectOf(letter) };
}

async function askedFor(
  options: DeadLetterOptions,
  settings: KernelSettings,
  terminal: Terminal,
): Promise<readonly Shown[]> {
  const address = managementAddress(options, settings, terminal);
  const { letters, missing } = await lettersOfAgent(address, queryOf(options));
  for (const worker of missing) terminal.err(`warning: the dead letters of a worker are not listed: ${worker}`);
  return letters;
}

/** The dead letters of a data directory, by worker. Throws when the directory or the sink does not exist. */
async function lettersIn({ dataDir }: KernelSettings, sink?: string): Promise<readonly DeadLetters[]> {
  const fault = dataDirFault(dataDir);
  if (fault !== undefined) throw new AgentError("NO_DATA_DIR", fault, { retryable: false });
  const folders = (await workersIn(dataDir)).map(({ folder }) => folder);
  const all = folders.map((folder) => new DeadLetters(path.join(folder, kernelFiles.deadLetters)));
  if (sink === undefined) return all;
  const counted = await Promise.all(folders.map(countedSinks));
  const known = [...new Set([...(await Promise.all(all.map((kept) => kept.sinks()))), ...counted].flat())].toSorted();
  if (known.includes(sink)) return all;
  const others = known.length === 0 ? "it holds no data of any sink" : `there are ${known.map(quoted).join(", ")}`;
  throw new AgentError("NO_SUCH_SINK", `there is no sink "${sink}" in "${dataDir}"; ${others}`, { retryable: false });
}

async function countedSinks(folder: string): Promise<readonly string[]> {
  const accounts = await readAccounts(path.join(folder, kernelFiles.ledger)).catch(() => undefined);
  return [...(accounts?.channels.values() ?? [])].flatMap(({ sinks }) => [...sinks.keys()]);
}

function quoted(name: string): string {
  return `"${name}"`;
}

const columns = ["id", "time", "sink", "state", "reason", "service", "entityId", "entityType", "table", "message"];
const heads = new Map([
  ["entityId", "entity"],
  ["entityType", "type"],
]);

function tableOf(letters: readonly Shown[]): string {
  if (letters.length === 0) return "no dead letters";
  const used = columns.filter((name) => name !== "table" || letters.some((letter) => letter[name]));
  const rows = letters.map((letter) => used.map((name) => String(letter[name] ?? "")));
  return tableText(
    used.map((name) => heads.get(name) ?? name),
    rows,
  );
}

export interface DeadLetterOptions extends ManagementAddressOptions, ChoiceText, Partial<ConfigurationFile> {
  readonly dataDir?: string;
  readonly all?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

/** The options that filter dead letters, for messages. */
export const filterOptions = choiceNames.map((name) => `--${name}`).join(", ");

/** For a command that reads the data directory, or calls the agent when an option names one. */
export function withDataDirOption(command: Command): Command {
  return withAgent(command.option("--data-dir <folder>", "data directory of the agent (default: data)"));
}

/** For a command that calls the agent, which is that of a properties file where one is given. */
export function withAgent(command: Command): Command {
  return withManagementAddress(command)
    .option("-f, --config <file>", "properties file; an agent of another file is not asked")
    .option("-n, --name <agent>", "agent of the file, when it holds several");
}

const reasons = ["permanent", "retries-exhausted", "crashed-the-agent", "stopped"] as const;

export function withFilterOptions(command: Command, of: string): Command {
  return command
    .option("-s, --sink <sink>", `${of} this sink`)
    .option("--service <service>", `${of} this service`)
    .option("--entity <id>", `${of} the entity with this id`)
    .option("--type <type>", `${of} entities of this type`)
    .addOption(choice("--reason <reason>", `${of} this reason`, reasons))
    .option("--code <code>", `${of} errors with this code`)
    .option("--text <text>", `${of} errors whose message holds this text`)
    .option("--since <time>", `${of} this time or later, as 2026-01-31T08:00:00Z`)
    .option("--until <time>", `${of} this time or earlier`);
}

/** The filter as parameters of a request. */
export function queryOf(options: ChoiceText): URLSearchParams {
  const query = new URLSearchParams();
  for (const name of choiceNames) {
    const value = options[name];
    if (value !== undefined) query.set(name, value);
  }
  return query;
}

/** Undefined, after an error message, when an option has a value that is not allowed. */
export function readFilter(options: ChoiceText, terminal: Terminal): LetterChoice | undefined {
  const choice = readChoice(options);
  if (typeof choice !== "string") return choice;
  terminal.err(`error: --${choice}`);
  return undefined;
}

export function settingsOf(options: DeadLetterOptions, terminal: Terminal): KernelSettings | undefined {
  const { dataDir, managementHost, managementPort } = options;
  const { settings, faults } = readKernelSettings({ dataDir, managementHost, managementPort }, terminal.env);
  printFaults(faults, terminal);
  return settings;
}
