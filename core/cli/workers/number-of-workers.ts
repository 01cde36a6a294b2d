import { type ConfigurationFault, warningAt } from "../../configuration/configuration-fault.js";
import type { Configuration } from "../../configuration/read-configuration.js";
import { isGiven, type KernelFlags, type KernelSettings } from "../../configuration/schema/kernel-settings.js";
import type { Topology } from "../../configuration/topology.js";
import type { Terminal } from "../command.js";

/** The settings with the number of workers of the file, where neither an option nor a variable gives one. */
export function withWorkers(
  settings: KernelSettings,
  { workers = settings.workers }: Pick<Topology, "workers">,
  { options, env }: { readonly options: KernelFlags; readonly env: Terminal["env"] },
): KernelSettings {
  return isGiven("workers", options, env) ? settings : { ...settings, workers };
}

/** A configuration that was read again, with a warning when the file wants another number of workers than at the start. */
export function withLaterWorkers(configuration: Configuration, atStart: Topology): Configuration {
  const { topology, faults } = configuration;
  if (topology === undefined || topology.workers === atStart.workers) return configuration;
  return { ...configuration, faults: [...faults, laterFault(topology)] };
}

function laterFault({ agent, workers }: Topology): ConfigurationFault {
  const value = workers === undefined ? {} : { value: String(workers) };
  return warningAt({ key: `${agent}.workers`, ...value }, "takes effect when the agent is started again");
}
