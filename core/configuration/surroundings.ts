import type { PluginCatalogue } from "../tokens.js";
import type { Fault } from "./fault.js";
import type { Settings } from "./setting.js";

export type Environment = Readonly<Record<string, string | undefined>>;

/** What reading a configuration needs besides its text. */
export interface Surroundings {
  readonly env: Environment;
  /** Throws when the file cannot be read. */
  readonly readFile: (path: string) => string;
  readonly catalogue: PluginCatalogue;
  /** Where the management interface is going to listen; absent: not known. */
  readonly management?: { readonly host: string; readonly port: number };
}

/** The lines of one component of the file. */
export interface ComponentBlock {
  readonly name: string;
  /** The key up to and including the name, for example `a1.sinks.s`. */
  readonly key: string;
  readonly line: number | undefined;
  readonly settings: Settings;
}

/** What was read, undefined where an error fault says why not. */
export interface Reading<T> {
  readonly value: T | undefined;
  readonly faults: readonly Fault[];
}
