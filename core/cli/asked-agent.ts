import type { KernelSettings } from "../configuration/schema/kernel-settings.js";
import { reasonOf } from "../sdk/index.js";
import { askManagement, type ManagementAddress, shownAddress } from "./ask-management.js";
import { exitCodes, type Terminal } from "./command.js";
import { withAllDataDirs } from "./data-dir.js";
import { agentsIn, type ConfigurationFile } from "./load.js";
import type { WorkerFolder } from "./workers/folders.js";

/**
 * Why the agent that answers is not the one of a properties file; undefined where it is, or does not say. The agents of a machine
 * have one default port, and what one of them answers says nothing of the stores of another.
 */
export async function askedAgentFault(
  address: ManagementAddress,
  { config, name }: ConfigurationFile,
  agents: readonly string[],
): Promise<string | undefined> {
  const wanted = name === undefined ? agents : [name];
  if (wanted.length === 0) return undefined;
  const { body } = await askManagement(address, "GET", "/v1/access");
  const { agent } = body;
  if (typeof agent !== "string" || wanted.includes(agent)) return undefined;
  const names = wanted.map((one) => `"${one}"`).join(", ");
  return (
    `agent "${agent}" answers at ${shownAddress(address)}, and the agent of "${config}" is ${names}; ` +
    "give the address of that one with --management-host and --management-port, also when it is stopped"
  );
}

/** The same for the agents that the file holds, whatever else is wrong with it; also why it holds none. */
export async function otherAgentFault(
  address: ManagementAddress,
  { config, name }: Partial<ConfigurationFile>,
): Promise<string | undefined> {
  if (config === undefined) return undefined;
  const file = { config, ...(name === undefined ? {} : { name }) };
  const agents = agentsIn(file);
  return typeof agents === "string" ? agents : await askedAgentFault(address, file, agents);
}

/** Runs the work in the data directories of an agent that is stopped, as it seems: nothing answered, for the given reason. */
export async function whereNoneAnswers(
  noAgent: unknown,
  settings: KernelSettings,
  terminal: Terminal,
  work: (workers: readonly WorkerFolder[]) => Promise<number>,
): Promise<number> {
  const remedy = "give the address of its management interface";
  const code = await withAllDataDirs({ ...settings, remedy }, terminal, work);
  if (code === exitCodes.folderInUse) terminal.err(`error: ${reasonOf(noAgent)}`);
  return code;
}
