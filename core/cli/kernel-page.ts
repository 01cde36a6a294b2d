import { sinkGroupProperties, sinkProperties, sourceProperties } from "../configuration/schema/component-properties.js";
import {
  kernelOptions,
  kernelProperties,
  pluginFoldersProperty,
  pluginPackagesProperty,
} from "../configuration/schema/kernel-settings.js";
import type { Schema } from "../sdk/index.js";
import { propertyTable } from "./property-table.js";
import { GENERATED } from "./reference-page.js";

/** The markdown page of everything the agent itself reads, whatever the plugins are. */
export function kernelPage(): string {
  const parts = [
    GENERATED,
    "# Kernel",
    "## Settings of the program",
    "An option of `deneb run` wins over its environment variable, the variable over the default.",
    propertyTable(byOption({ ...kernelProperties, pluginFolders, pluginPackages })),
    "## Every source",
    "Each is written `<agent>.sources.<source>.<property> = <value>`.",
    propertyTable(sourceProperties),
    "## Every sink",
    "Each is written `<agent>.sinks.<sink>.<property> = <value>`.",
    propertyTable(sinkProperties),
    "## Every sink group",
    "Each is written `<agent>.sinkgroups.<group>.<property> = <value>`.",
    propertyTable(sinkGroupProperties),
  ];
  return `${parts.join("\n\n")}\n`;
}

const pluginFolders = { ...pluginFoldersProperty, format: "words", default: [] } as const;
const pluginPackages = { ...pluginPackagesProperty, format: "words", default: [] } as const;

function byOption(settings: Schema): Schema {
  const options = new Map<string, string>(Object.entries(kernelOptions));
  return Object.fromEntries(
    Object.entries(settings).map(([name, property]) => [options.get(name) ?? property.env ?? name, property]),
  );
}
