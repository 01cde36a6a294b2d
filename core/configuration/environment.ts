import type { PluginCatalogue } from "../tokens.js";
import type { ConfigurationFault } from "./configuration-fault.js";

export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

/** What a configuration is read with, besides its text: variables, files and plugins. */
export interface Environment {
  readonly env: EnvironmentVariables;
  /** Reads a file that an environment variable names; throws when it cannot. */
  readonly readFile: (path: string) => string;
  readonly catalogue: PluginCatalogue;
  /** Where the management interface will listen; absent: not known. */
  readonly management?: { readonly host: string; readonly port: number };
}

/** What was read; the value is undefined where a fault is an error. */
export interface Reading<T> {
  readonly value: T | undefined;
  readonly faults: readonly ConfigurationFault[];
}
