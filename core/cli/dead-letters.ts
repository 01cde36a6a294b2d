import { type KernelSettings, readKernelSettings } from "../configuration/schema/kernel-settings.js";
import { type ChoiceText, choiceNames, type LetterChoice, readChoice } from "../pipeline/dead-letter-choice.js";
import { askManagement } from "./ask-management.js";
import { printFaults } from "./load.js";
import { type ManagementAddressOptions, managementAddress } from "./management-address.js";
import { exitCodes, type Terminal } from "./terminal.js";

export interface DeadLetterOptions extends ManagementAddressOptions, ChoiceText {
  readonly dataDir?: string;
  readonly all?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

export const deadLettersPath = "/v1/admin/deadletters";

/** `deneb dead-letters replay`: asks the running agent to send letters to their sinks again. */
export async function replayDeadLetters(
  id: string | undefined,
  options: DeadLetterOptions,
  terminal: Terminal,
): Promise<number> {
  return await ask({ method: "POST", suffix: "/replay" }, { id, options, terminal });
}

/** `deneb dead-letters drop`: asks the running agent to remove letters. */
export async function dropDeadLetters(
  id: string | undefined,
  options: DeadLetterOptions,
  terminal: Terminal,
): Promise<number> {
  return await ask({ method: "DELETE", suffix: "" }, { id, options, terminal });
}

interface Command {
  readonly id: string | undefined;
  readonly options: DeadLetterOptions;
  readonly terminal: Terminal;
}

interface Request {
  readonly method: "POST" | "DELETE";
  readonly suffix: "" | "/replay";
}

async function ask({ method, suffix }: Request, { id, options, terminal }: Command): Promise<number> {
  const settings = settingsOf(options, terminal);
  const choice = choiceOf(options, terminal);
  const names = choiceNames.filter((name) => options[name] !== undefined);
  const fault = choosing(id, names.length > 0, options.all === true);
  if (fault !== undefined) terminal.err(fault);
  if (settings === undefined || choice === undefined || fault !== undefined) return exitCodes.badInput;
  const query = queryOf(options);
  if (options.dryRun === true) query.set("dry_run", "true");
  if (options.all === true) query.set("all", "true");
  const target = `${deadLettersPath}${id === undefined ? "" : `/${encodeURIComponent(id)}`}${suffix}?${query}`;
  const { body, refusal } = await askManagement(managementAddress(options, settings, terminal), method, target);
  const said = options.json === true ? JSON.stringify(body) : countsIn(body);
  if (said !== "") terminal.out(options.json !== true && options.dryRun === true ? `dry run: ${said}` : said);
  if (refusal === undefined) return exitCodes.success;
  terminal.err(`deneb: ${refusal}`);
  return exitCodes.failure;
}

/** What is wrong with how letters are chosen. */
function choosing(id: string | undefined, byOptions: boolean, all: boolean): string | undefined {
  if (id !== undefined) return byOptions || all ? "give an id, or options that choose letters, not both" : undefined;
  if (all && byOptions) return "give --all, or options that choose letters, not both";
  const options = choiceNames.map((name) => `--${name}`).join(", ");
  return all || byOptions ? undefined : `say which letters: an id, --all, or some of ${options}`;
}

function countsIn(body: Readonly<Record<string, unknown>>): string {
  const counts = Object.entries(body).filter(([, value]) => typeof value === "number");
  return counts.map(([name, count]) => `${name}: ${count}`).join(", ");
}

/** The choice as parameters of a request. */
export function queryOf(options: ChoiceText): URLSearchParams {
  const query = new URLSearchParams();
  for (const name of choiceNames) {
    const value = options[name];
    if (value !== undefined) query.set(name, value);
  }
  return query;
}

/** Undefined, and said so, when an option has no such value. */
export function choiceOf(options: ChoiceText, terminal: Terminal): LetterChoice | undefined {
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
