import { readFile } from "node:fs/promises";
import type { Command } from "commander";
import { type ExplainedEvent, type ExplainedSink, explain, targetOf } from "../agent/explain/explain.js";
import { type PluginFlags, readKernelSettings } from "../configuration/schema/kernel-settings.js";
import type { ComponentNode } from "../configuration/topology.js";
import { silentLoggers } from "../logging/loggers.js";
import { AgentError, type ExplainedWrite, type InboundRequest } from "../sdk/index.js";
import { type CommandContext, exitCodes, type Terminal, withPlugins } from "./command.js";
import { type ConfigurationFile, loadConfiguration, loadPlugins, printFaults } from "./load.js";
import { tableText } from "./table.js";

interface ExplainOptions extends ConfigurationFile, PluginFlags {
  readonly dataDir?: string;
  readonly header?: readonly string[];
  readonly json?: boolean;
}

export function define(command: Command, { terminal, exitWith }: CommandContext): void {
  withPlugins(command)
    .argument("<notification>", "file with the body of a notification")
    .requiredOption("-f, --config <file>", "properties file")
    .option("-n, --name <agent>", "agent of the file; may be omitted when the file holds one")
    .option(
      "--header <field>",
      "header field of the notification, such as 'Fiware-Service: openiot'; may be repeated",
      appended,
    )
    .option("--data-dir <folder>", "data directory of the agent (default: data)")
    .option("--json", "print it as JSON")
    .action((notification: string, options: ExplainOptions) =>
      exitWith(explainNotification(notification, options, terminal)),
    );
}

/**
 * `deneb explain`: prints the events of a notification, their channels, and what each sink would send for them. Fails
 * when a sink cannot explain, after the explanations of all others.
 */
async function explainNotification(file: string, options: ExplainOptions, terminal: Terminal): Promise<number> {
  const { settings, faults } = readKernelSettings(options, terminal.env);
  printFaults(faults, terminal);
  if (settings === undefined) return exitCodes.badInput;
  const catalogue = await loadPlugins(settings, terminal, options.config);
  // Nothing is connected to: the file that `migrate` prints is explained before its variables are set.
  const configuration = loadConfiguration(options, catalogue, terminal, { secretsMayBeUnset: true });
  printFaults(configuration.faults, terminal);
  if (configuration.topology === undefined) return exitCodes.badInput;
  const body = await bodyOf(file);
  const headers = { "content-type": "application/json", ...fieldsOf(options.header ?? []) };
  const clock = { now: () => new Date() };
  const requestTo = (handler: ComponentNode): InboundRequest => {
    return { method: "POST", path: targetOf(handler), headers, body, receivedAt: clock.now() };
  };
  const parts = { loggers: silentLoggers, clock, dataDir: settings.dataDir };
  const events = await explain(configuration.topology, requestTo, parts);
  terminal.out(options.json === true ? JSON.stringify(events, nullForUndefined, 2) : explanationText(events));
  const failed = events.some(({ sinks }) => sinks.some(({ failure }) => failure !== undefined));
  return failed ? exitCodes.failure : exitCodes.success;
}

async function bodyOf(file: string): Promise<Uint8Array> {
  try {
    return await readFile(file);
  } catch (cause) {
    throw new AgentError("NOTIFICATION_UNREADABLE", `reading the notification "${file}"`, { cause, retryable: false });
  }
}

function fieldsOf(fields: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    fields.map((field) => {
      const colon = field.indexOf(":");
      if (colon > 0) return [field.slice(0, colon).trim().toLowerCase(), field.slice(colon + 1).trim()] as const;
      throw new AgentError("HEADER_MALFORMED", `reading the header field "${field}"; write it as Name: value`, {
        retryable: false,
      });
    }),
  );
}

/** JSON has no undefined, and a list keeps its length. */
function nullForUndefined(_key: string, value: unknown): unknown {
  return value === undefined ? null : value;
}

function appended(field: string, before: readonly string[] = []): readonly string[] {
  return [...before, field];
}

/** The events as text for people. */
function explanationText(events: readonly ExplainedEvent[]): string {
  if (events.length === 0) return "no events";
  return events.map((event, index) => eventText(event, index + 1)).join("\n\n");
}

function eventText({ source, event, channels, sinks }: ExplainedEvent, number: number): string {
  const where = channels.length === 0 ? "dropped by an interceptor" : `to ${channels.join(", ")}`;
  const lines = [`event ${number} of source ${source}, ${where}`];
  const headers = Object.entries(event.headers).map(([name, text]) => `  ${name}: ${text}`);
  return [...lines, ...headers, ...sinks.flatMap(sinkLines)].join("\n");
}

function sinkLines({ sink, type, explanation, failure }: ExplainedSink): readonly string[] {
  const title = `sink ${sink} (${type})`;
  if (failure !== undefined) return [`${title}: not explained: ${failure}`];
  if (explanation === undefined) return [`${title}: its plugin does not explain what it does`];
  const { writes, statements, notes } = explanation;
  return [
    title,
    ...writes.flatMap(writeLines),
    ...statements.map(({ text, parameters }) =>
      parameters.length === 0 ? `  ${text}` : `  ${text}\n    ${JSON.stringify(parameters)}`,
    ),
    ...notes.map((note) => `  note: ${note}`),
  ];
}

function writeLines({ destination, columns, rows }: ExplainedWrite): readonly string[] {
  const place = Object.entries(destination).map(([part, name]) => `${part} ${name}`);
  const cells = rows.flatMap((row) => columns.map((column, index) => [column, row[index] ?? "NULL"]));
  const table = tableText(["column", "value"], cells);
  return [`  ${place.join(", ")}`, ...table.split("\n").map((line) => `    ${line}`)];
}
