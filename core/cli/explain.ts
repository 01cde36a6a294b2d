import { readFile } from "node:fs/promises";
import { explain } from "../agent/explain.js";
import { type PluginFlags, readKernelSettings } from "../configuration/kernel-settings.js";
import type { ComponentNode } from "../configuration/topology.js";
import { silentLoggers } from "../logging/silent-loggers.js";
import { AgentError, type InboundRequest } from "../sdk/index.js";
import { explanationText } from "./explanation-text.js";
import { type ConfigurationFile, loadConfiguration, loadPlugins, printFaults } from "./load.js";
import { exitCodes, type Terminal } from "./terminal.js";

export interface ExplainOptions extends ConfigurationFile, PluginFlags {
  readonly dataDir?: string;
  readonly header?: readonly string[];
  readonly json?: boolean;
}

/**
 * `deneb explain`: the events of a notification, their channels, and what each sink would send for them. Fails when a
 * sink could not tell, after telling all the others.
 */
export async function explainNotification(file: string, options: ExplainOptions, terminal: Terminal): Promise<number> {
  const { settings, faults } = readKernelSettings({ ...options, logLevel: undefined }, terminal.env);
  printFaults(faults, terminal);
  if (settings === undefined) return exitCodes.badInput;
  const catalogue = await loadPlugins(settings, terminal, options.config);
  const configuration = loadConfiguration(options, catalogue, terminal);
  printFaults(configuration.faults, terminal);
  if (configuration.topology === undefined) return exitCodes.badInput;
  const body = await bodyOf(file);
  const headers = { "content-type": "application/json", ...fieldsOf(options.header ?? []) };
  const clock = { now: () => new Date() };
  const requestTo = (handler: ComponentNode): InboundRequest => {
    const target = handler.config["notification_target"];
    const path = typeof target === "string" ? target : "/notify";
    return { method: "POST", path, headers, body, receivedAt: clock.now() };
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
