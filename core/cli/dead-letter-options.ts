import type { Command } from "commander";
import { type KernelSettings, readKernelSettings } from "../configuration/schema/kernel-settings.js";
import { type ChoiceText, choiceNames, type LetterChoice, readChoice } from "../pipeline/dead-letters/choice.js";
import { printFaults } from "./load.js";
import { type ManagementAddressOptions, withManagementAddress } from "./management-address.js";
import type { Terminal } from "./terminal.js";

export interface DeadLetterOptions extends ManagementAddressOptions, ChoiceText {
  readonly dataDir?: string;
  readonly all?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

export const deadLettersPath = "/v1/admin/deadletters";

/** The options that filter dead letters, for messages. */
export const filterOptions = choiceNames.map((name) => `--${name}`).join(", ");

/** For a command that reads the data directory, or calls the agent when an option names one. */
export function withDataDirOption(command: Command): Command {
  return withManagementAddress(command.option("--data-dir <folder>", "data directory of the agent (default: data)"));
}

export function withFilterOptions(command: Command, of: string): Command {
  return command
    .option("-s, --sink <sink>", `${of} this sink`)
    .option("--service <service>", `${of} this service`)
    .option("--entity <id>", `${of} the entity with this id`)
    .option("--reason <reason>", `${of} this reason: permanent, retries-exhausted, crashed-the-agent or stopped`)
    .option("--since <time>", `${of} this time or later, as 2026-01-31T08:00:00Z`);
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
