import type { PluginCatalogue } from "../tokens.js";
import { agentNames, keyFaults } from "./agent-sections.js";
import type { Fault } from "./fault.js";
import { errorAt, startable } from "./fault-at.js";
import { nearest } from "./nearest.js";
import { parseProperties } from "./properties.js";
import { readAgent } from "./read-agent.js";
import type { Environment } from "./surroundings.js";
import type { Topology } from "./topology.js";
import { variableFaults } from "./variable-faults.js";

export interface ConfigurationInput {
  /** The properties file. */
  readonly text: string;
  /** May be left out when the file holds one agent. */
  readonly agent?: string;
  readonly env: Environment;
  /** Reads a file that an environment variable names; throws when it cannot. */
  readonly readFile: (path: string) => string;
  readonly catalogue: PluginCatalogue;
  /** Where the management interface is going to listen; absent: not known. */
  readonly management?: { readonly host: string; readonly port: number };
}

export interface Configuration {
  /** Undefined when one of the faults is an error. */
  readonly topology: Topology | undefined;
  /** Names of all agents of the file, in its order. */
  readonly agents: readonly string[];
  /** In the order of the file; those without a line last. */
  readonly faults: readonly Fault[];
}

/** Reads one agent of a properties file and reports everything that is wrong with it at once. */
export function readConfiguration({ text, agent, ...surroundings }: ConfigurationInput): Configuration {
  const { settings, faults: syntax } = parseProperties(text);
  const agents = agentNames(settings);
  const choice = chooseAgent(agents, agent);
  const chosen = typeof choice === "string" ? choice : undefined;
  const reading = chosen === undefined ? undefined : readAgent(settings, chosen, surroundings);
  const faults = [
    ...(typeof choice === "string" ? [] : [choice]),
    ...syntax,
    ...keyFaults(settings, agents, chosen),
    ...(reading?.faults ?? []),
    ...variableFaults(text, surroundings),
  ];
  return { topology: startable(faults) ? reading?.value : undefined, agents, faults: inFileOrder(faults) };
}

function chooseAgent(agents: readonly string[], wanted: string | undefined): string | Fault {
  const [only, ...others] = agents;
  if (only === undefined) {
    return errorAt(
      { key: "agent", value: wanted },
      "is not in the file: it holds no sources, channels or sinks of an agent",
    );
  }
  const known = agents.join(", ");
  if (wanted === undefined) {
    return others.length === 0 ? only : errorAt({ key: "agent" }, `must be named: the file holds ${known}`);
  }
  if (agents.includes(wanted)) return wanted;
  const place = { key: "agent", value: wanted, nearest: nearest(wanted, agents) };
  return errorAt(place, `is not in the file, which holds ${known}`);
}

function inFileOrder(faults: readonly Fault[]): readonly Fault[] {
  return faults.toSorted((a, b) => (a.line ?? Number.MAX_SAFE_INTEGER) - (b.line ?? Number.MAX_SAFE_INTEGER));
}
