import path from "node:path";
import { kernelFiles } from "../agent/container.js";
import { type KernelSettings, readKernelSettings } from "../configuration/kernel-settings.js";
import { DeadLetters, type OpenLetter } from "../pipeline/dead-letters.js";
import { AgentError } from "../sdk/index.js";
import { askManagement } from "./ask-management.js";
import { printFaults } from "./load.js";
import { tableText } from "./table.js";
import { exitCodes, type Terminal } from "./terminal.js";

export interface DeadLetterOptions {
  readonly dataDir?: string;
  readonly managementHost?: string;
  readonly managementPort?: string;
  readonly sink?: string;
  readonly all?: boolean;
  readonly json?: boolean;
}

const resource = "/v1/admin/deadletters";

/** `deneb dead-letters list`: the letters in a data directory, whether an agent runs or not. */
export async function listDeadLetters(options: DeadLetterOptions, terminal: Terminal): Promise<number> {
  const settings = settingsOf(options, terminal);
  if (settings === undefined) return exitCodes.badInput;
  const letters: Omit<OpenLetter, "event">[] = [];
  for await (const { event: _event, ...letter } of lettersIn(settings).open(options.sink)) letters.push(letter);
  terminal.out(options.json === true ? JSON.stringify(letters, undefined, 2) : tableOf(letters));
  return exitCodes.success;
}

/** `deneb dead-letters show`: one letter with its event. */
export async function showDeadLetter(id: string, options: DeadLetterOptions, terminal: Terminal): Promise<number> {
  const settings = settingsOf(options, terminal);
  if (settings === undefined) return exitCodes.badInput;
  const letter = await lettersIn(settings).find(id);
  if (letter === undefined) {
    throw new AgentError(
      "UNKNOWN_LETTER",
      `dead letter "${id}" is not in "${settings.dataDir}"; see dead-letters list`,
    );
  }
  terminal.out(JSON.stringify(letter, undefined, 2));
  return exitCodes.success;
}

/** `deneb dead-letters replay`: asks the running agent to send letters to their sinks again. */
export async function replayDeadLetters(
  id: string | undefined,
  options: DeadLetterOptions,
  terminal: Terminal,
): Promise<number> {
  const request = { method: "POST", path: id === undefined ? `${resource}/replay` : `${pathOf(id)}/replay` } as const;
  return await ask(request, { id, options, terminal });
}

/** `deneb dead-letters drop`: asks the running agent to forget letters. */
export async function dropDeadLetters(
  id: string | undefined,
  options: DeadLetterOptions,
  terminal: Terminal,
): Promise<number> {
  return await ask({ method: "DELETE", path: id === undefined ? resource : pathOf(id) }, { id, options, terminal });
}

interface Command {
  readonly id: string | undefined;
  readonly options: DeadLetterOptions;
  readonly terminal: Terminal;
}

async function ask(
  { method, path: target }: { readonly method: string; readonly path: string },
  { id, options, terminal }: Command,
): Promise<number> {
  const settings = settingsOf(options, terminal);
  if (settings === undefined) return exitCodes.badInput;
  if (id === undefined && options.sink === undefined && options.all !== true) {
    terminal.err("say which letters: an id, --sink <name>, or --all");
    return exitCodes.badInput;
  }
  const query = new URLSearchParams({ all: "true", ...(options.sink === undefined ? {} : { sink: options.sink }) });
  const reply = await askManagement(settings, method, id === undefined ? `${target}?${query}` : target);
  const counts = Object.entries(reply).filter(([name]) => name !== "success");
  terminal.out(options.json === true ? JSON.stringify(reply) : counts.map(([name, n]) => `${name}: ${n}`).join(", "));
  return exitCodes.success;
}

function pathOf(id: string): string {
  return `${resource}/${encodeURIComponent(id)}`;
}

function settingsOf(options: DeadLetterOptions, terminal: Terminal): KernelSettings | undefined {
  const { dataDir, managementHost, managementPort } = options;
  const { settings, faults } = readKernelSettings({ dataDir, managementHost, managementPort }, terminal.env);
  printFaults(faults, terminal);
  return settings;
}

function lettersIn({ dataDir }: KernelSettings): DeadLetters {
  return new DeadLetters(path.join(dataDir, kernelFiles.deadLetters));
}

function tableOf(letters: readonly Omit<OpenLetter, "event">[]): string {
  if (letters.length === 0) return "no dead letters";
  const rows = letters.map(({ id, time, sink, state, reason, message }) => [id, time, sink, state, reason, message]);
  return tableText(["id", "time", "sink", "state", "reason", "message"], rows);
}
