import { type ConfigurationFault, errorAt, nearest, startable } from "./configuration-fault.js";
import type { Environment } from "./environment.js";
import { agentNames, keyFaults } from "./file/agent-sections.js";
import { parseProperties } from "./file/properties.js";
import { variableFaults } from "./schema/unknown-settings.js";
import { readAgent } from "./topology/read-agent.js";
import type { Topology } from "./topology.js";

export interface ConfigurationInput extends Environment {
  /** The properties file. */
  readonly text: string;
  /** May be omitted when the file holds one agent. */
  readonly agent?: string;
}

export interface Configuration {
  /** Undefined when one of the faults is an error. */
  readonly topology: Topology | undefined;
  /** Names of all agents of the file, in its order. */
  readonly agents: readonly string[];
  /** In the order of the file; those without a line last. */
  readonly faults: readonly ConfigurationFault[];
}

/** Reads one agent of a properties file and reports everything that is wrong with it at once. */
export function readConfiguration({ text, agent, ...environment }: ConfigurationInput): Configuration {
  const { settings, faults: syntax } = parseProperties(text);
  const agents = agentNames(settings);
  const choice = chooseAgent(agents, agent);
  const chosen = typeof choice === "string" ? choice : undefined;
  const reading = chosen === undefined ? undefined : readAgent(settings, chosen, environment);
  const faults = [
    ...(typeof choice === "string" ? [] : [choice]),
    ...syntax,
    ...keyFaults(settings, agents, chosen),
    ...(reading?.faults ?? []),
    ...variableFaults(text, environment),
  ];
  return { topology: startable(faults) ? reading?.value : undefined, agents, faults: inFileOrder(faults) };
}

function chooseAgent(agents: readonly string[], wanted: string | undefined): string | ConfigurationFault {
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
  const location = { key: "agent", value: wanted, nearest: nearest(wanted, agents) };
  return errorAt(location, `is not in the file, which holds ${known}`);
}

function inFileOrder(faults: readonly ConfigurationFault[]): readonly ConfigurationFault[] {
  return faults.toSorted((a, b) => (a.line ?? Number.MAX_SAFE_INTEGER) - (b.line ?? Number.MAX_SAFE_INTEGER));
}
