import type { Property } from "../../sdk/index.js";

/** A setting of the agent process: its command line option takes precedence over its environment variable. */
export interface KernelProperty extends Property {
  readonly env: string;
  /** As commander takes it, with the name of its value; secrets have none, because other users see command lines. */
  readonly option?: string;
}

/** The long name of an option: `--management-port` of `-p, --management-port <port>`. */
export function optionName(option: string): string {
  return /--[\w-]+/.exec(option)?.[0] ?? option;
}
