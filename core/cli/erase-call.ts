import type { KernelSettings, PluginFlags } from "../configuration/schema/kernel-settings.js";
import type { Topology } from "../configuration/topology.js";
import type { StoredSelection } from "../sdk/index.js";
import type { Terminal } from "./command.js";
import type { ConfigurationFile } from "./load.js";
import type { ManagementAddressOptions } from "./management-address.js";

export interface EraseOptions extends PluginFlags, ManagementAddressOptions, Partial<ConfigurationFile> {
  readonly dataDir?: string;
  readonly json?: boolean;
  readonly yes?: boolean;
  readonly entity?: string;
  readonly service?: string;
  readonly table?: readonly string[];
}

export interface EraseCall {
  readonly selection: StoredSelection;
  readonly dryRun: boolean;
  readonly topology: Topology;
  readonly settings: KernelSettings;
  readonly options: EraseOptions;
  readonly terminal: Terminal;
}
