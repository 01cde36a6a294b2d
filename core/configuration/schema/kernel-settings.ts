import { delimiter } from "node:path";
import type { ConfigOf } from "../../sdk/index.js";
import { type ConfigurationFault, type EnvironmentVariables, errorAt, nearest } from "../configuration-fault.js";
import { kernelProperties, pluginFoldersProperty, pluginPackagesProperty } from "./kernel-properties.js";
import { type KernelProperty, optionName } from "./kernel-property.js";
import { typedValues } from "./typed-values.js";

export type KernelName = keyof typeof kernelProperties;

/** What the command line gave, as text; undefined where it gave nothing. */
export type KernelFlags = { readonly [K in KernelName]?: string | undefined } & PluginFlags;

export interface PluginFlags {
  readonly pluginFolders?: readonly string[] | undefined;
  readonly pluginPackages?: readonly string[] | undefined;
}

/** Where plugins are searched for, besides those that come with the program. */
export interface PluginLocations {
  readonly pluginFolders: readonly string[];
  readonly pluginPackages: readonly string[];
}

export interface KernelSettings extends ConfigOf<typeof kernelProperties>, PluginLocations {}

interface KernelReading {
  /** Undefined when there are faults. */
  readonly settings: KernelSettings | undefined;
  readonly faults: readonly ConfigurationFault[];
}

/** Reads the settings of the agent process from its options and environment variables. */
export function readKernelSettings(flags: KernelFlags, env: EnvironmentVariables): KernelReading {
  const given = kernelNames.flatMap((name) => givenFor(name, flags, env));
  const { values, reasons } = typedValues(kernelProperties, new Map(given.map(({ name, text }) => [name, text])));
  const faults = given.flatMap(({ name, text, key }) => {
    const reason = reasons.get(name) ?? bracketsReason(name, text);
    return reason === undefined ? [] : [errorAt({ key, value: text, nearest: meant(name, text) }, reason)];
  });
  const config = Object.fromEntries(values);
  if (faults.length > 0 || !isComplete(config)) return { settings: undefined, faults };
  return { settings: { ...config, ...pluginLocations(flags, env) }, faults };
}

/** Brackets around an IPv6 address belong to URLs; as a host they would be a name that nobody has. */
function bracketsReason(name: KernelName, text: string): string | undefined {
  if (name !== "managementHost") return undefined;
  if (/^\[.*\]$/.test(text)) return "must be without brackets, as ::1";
  const isHost = !/[\s,;"'/]|\]:|^[^:]*:\d+$/.test(text);
  return isHost
    ? undefined
    : "must be one address or name of this machine, and nothing else; its port is --management-port";
}

/** Whether the command line or the environment gives the setting, so that it is not the default. */
export function isGiven(name: KernelName, flags: KernelFlags, env: EnvironmentVariables): boolean {
  return givenFor(name, flags, env).length > 0;
}

/** The folders and packages of the command line, then those of the environment. */
export function pluginLocations(
  { pluginFolders = [], pluginPackages = [] }: PluginFlags,
  env: EnvironmentVariables,
): PluginLocations {
  const folders = env[pluginFoldersProperty.env]?.split(delimiter) ?? [];
  const packages = env[pluginPackagesProperty.env]?.split(/[\s,]+/) ?? [];
  return {
    pluginFolders: [...pluginFolders, ...folders].filter((folder) => folder !== ""),
    pluginPackages: [...pluginPackages.flatMap((names) => names.split(",")), ...packages].filter((name) => name !== ""),
  };
}

/** Milliseconds that a broker has for a call that reads or deletes, and for one that creates. */
export function brokerTimeouts(settings: Pick<KernelSettings, "brokerTimeout" | "brokerCreateTimeout">) {
  const { brokerTimeout, brokerCreateTimeout } = settings;
  return {
    timeoutMillis: brokerTimeout * 1000,
    createTimeoutMillis: Math.max(brokerCreateTimeout, brokerTimeout) * 1000,
  };
}

export const kernelNames = Object.keys(kernelProperties).filter(isKernelName);

interface GivenSetting {
  readonly name: KernelName;
  readonly text: string;
  /** The option or the variable that gave it. */
  readonly key: string;
}

function givenFor(name: KernelName, flags: KernelFlags, env: EnvironmentVariables): readonly GivenSetting[] {
  const flag = flags[name];
  if (flag !== undefined && flag !== "") return [{ name, text: flag, key: optionOf(name) }];
  const variable = kernelProperties[name].env;
  const text = env[variable];
  return text === undefined || text === "" ? [] : [{ name, text, key: variable }];
}

function optionOf(name: KernelName): string {
  const { option = name }: KernelProperty = kernelProperties[name];
  return optionName(option);
}

function meant(name: KernelName, text: string): string | undefined {
  const { format } = kernelProperties[name];
  return typeof format === "string" ? undefined : nearest(text, format);
}

function isKernelName(name: string): name is KernelName {
  return Object.hasOwn(kernelProperties, name);
}

// Here values get the types of the schema: each one in the record was validated by its format.
function isComplete(values: object): values is ConfigOf<typeof kernelProperties> {
  return kernelNames.every((name) => Object.hasOwn(values, name));
}
