import { delimiter } from "node:path";
import type { ConfigOf, Schema } from "../../sdk/index.js";
import type { ConfigurationFault } from "../configuration-fault.js";
import { errorAt, nearest } from "../configuration-fault.js";
import type { EnvironmentVariables } from "../environment.js";
import { managementOptions, managementProperties } from "./management-properties.js";
import { typedValues } from "./typed-values.js";

/** Settings of the agent process itself: a command line option wins over its environment variable. */
export const kernelProperties = {
  managementHost: {
    doc: "Address the management interface listens on. The default is reachable from this machine only.",
    format: "text",
    default: "127.0.0.1",
    env: "DENEB_MANAGEMENT_HOST",
  },
  managementPort: {
    doc: "Port of the management interface; 0 lets the system choose.",
    format: "port",
    default: 5080,
    env: "DENEB_MANAGEMENT_PORT",
  },
  dataDir: {
    doc: "Folder for everything the agent keeps: embedded databases, durable channels, dead letters.",
    format: "text",
    default: "data",
    env: "DENEB_DATA_DIR",
  },
  gracePeriodSeconds: {
    doc: "Seconds a stopping agent has to write what it accepted.",
    format: "seconds",
    default: 30,
    env: "DENEB_GRACE_PERIOD",
  },
  startTimeoutSeconds: {
    doc: "Seconds the start of a source or sink may take; after that the agent works without it and says so. A sink is started again with its next batch. 0 waits for ever.",
    format: "seconds",
    default: 30,
    max: 86_400,
    env: "DENEB_START_TIMEOUT",
  },
  lockWaitSeconds: {
    doc: "Seconds a starting agent waits for another one that uses its data directory or the folders of a channel; then it ends with exit code 3.",
    format: "seconds",
    default: 10,
    max: 86_400,
    env: "DENEB_LOCK_WAIT",
  },
  reloadIntervalSeconds: {
    doc: "Seconds between two looks at the properties file; a changed file is reloaded. 0 never looks; SIGHUP reloads either way.",
    format: "seconds",
    default: 30,
    max: 86_400,
    env: "DENEB_RELOAD_INTERVAL",
  },
  deadLetterDays: {
    doc: "Days after which a dead letter is removed, when it still is that old after a day of uptime; 0 removes none.",
    format: "count",
    default: 0,
    env: "DENEB_DEAD_LETTER_DAYS",
  },
  deadLetterBytes: {
    doc: "Most bytes of the open dead letters of one sink. A sink that needs more stores nothing until some are replayed or dropped; its events wait in the channel. 0 is no limit.",
    format: "count",
    default: 1_073_741_824,
    env: "DENEB_DEAD_LETTER_BYTES",
  },
  deadLetterReplay: {
    doc: "Whether letters whose retries ran out are replayed by the agent when their sink stores again.",
    format: "flag",
    default: true,
    env: "DENEB_DEAD_LETTER_REPLAY",
  },
  logLevel: {
    doc: "Least level of the log lines written. When given, it wins over the level of the root logger in the logging file.",
    format: ["debug", "info", "warn", "error"],
    default: "info",
    env: "DENEB_LOG_LEVEL",
  },
  ...managementProperties,
  logging: {
    doc: "Logging file: appenders and levels of loggers, JSON. It need not exist; the management interface edits it.",
    format: "text",
    default: "config/logging.json",
    env: "DENEB_LOGGING",
  },
} as const satisfies Schema;

/** Folders of plugins besides the agent's own: those of the command line, then those of this variable. */
export const pluginFoldersProperty = {
  doc: `Folders with plugins besides the agent's own. The environment variable separates them as PATH does; its folders follow those of the command line.`,
  env: "DENEB_PLUGINS",
} as const;

/** Packages with plugins: those of the command line, then those of this variable. */
export const pluginPackagesProperty = {
  doc: "Names of installed npm packages with plugins, looked for from the working directory, then from the folder of the properties file. Those of the environment variable follow those of the command line.",
  env: "DENEB_PLUGIN_PACKAGES",
} as const;

/** The command line option of each setting. */
export const kernelOptions = {
  managementHost: "--management-host",
  managementPort: "--management-port",
  dataDir: "--data-dir",
  gracePeriodSeconds: "--grace-period",
  startTimeoutSeconds: "--start-timeout",
  lockWaitSeconds: "--lock-wait",
  reloadIntervalSeconds: "--reload-interval",
  deadLetterDays: "--dead-letter-days",
  deadLetterBytes: "--dead-letter-bytes",
  deadLetterReplay: "--dead-letter-replay",
  logLevel: "--log-level",
  logging: "--logging",
  pluginFolders: "--plugins",
  pluginPackages: "--plugin-packages",
  ...managementOptions,
} as const;

type KernelName = keyof typeof kernelProperties;

/** What the command line gave, as text; undefined where it gave nothing. */
export type KernelFlags = { readonly [K in KernelName]?: string | undefined } & PluginFlags;

export interface PluginFlags {
  readonly pluginFolders?: readonly string[] | undefined;
  readonly pluginPackages?: readonly string[] | undefined;
}

/** Where plugins are, beside those that come with the program. */
export interface PluginLocations {
  readonly pluginFolders: readonly string[];
  readonly pluginPackages: readonly string[];
}

export interface KernelSettings extends ConfigOf<typeof kernelProperties>, PluginLocations {}

export interface KernelReading {
  /** Undefined when there are faults. */
  readonly settings: KernelSettings | undefined;
  readonly faults: readonly ConfigurationFault[];
}

/** Reads the settings of the agent process; pure, so the environment is handed in. */
export function readKernelSettings(flags: KernelFlags, env: EnvironmentVariables): KernelReading {
  const given = kernelNames.flatMap((name) => givenFor(name, flags, env));
  const { values, reasons } = typedValues(kernelProperties, new Map(given.map(({ name, text }) => [name, text])));
  const faults = given.flatMap(({ name, text, key }) => {
    const reason = reasons.get(name);
    return reason === undefined ? [] : [errorAt({ key, value: text, nearest: meant(name, text) }, reason)];
  });
  const config = Object.fromEntries(values);
  if (!isComplete(config)) return { settings: undefined, faults };
  return { settings: { ...config, ...pluginLocations(flags, env) }, faults };
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
    pluginPackages: [...pluginPackages, ...packages].filter((name) => name !== ""),
  };
}

const kernelNames = Object.keys(kernelProperties).filter(isKernelName);

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
  const options: Partial<Record<KernelName, string>> = kernelOptions;
  return options[name] ?? name;
}

function meant(name: KernelName, text: string): string | undefined {
  const { format } = kernelProperties[name];
  return typeof format === "string" ? undefined : nearest(text, format);
}

function isKernelName(name: string): name is KernelName {
  return Object.hasOwn(kernelProperties, name);
}

// The border where values get the types of the schema: each one in the record was judged by its format.
function isComplete(values: object): values is ConfigOf<typeof kernelProperties> {
  return kernelNames.every((name) => Object.hasOwn(values, name));
}
