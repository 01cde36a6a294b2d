import { type Command, Option } from "commander";
import {
  kernelProperties,
  pluginFoldersProperty,
  pluginPackagesProperty,
} from "../configuration/schema/kernel-properties.js";
import type { KernelProperty } from "../configuration/schema/kernel-property.js";
import type { KernelName } from "../configuration/schema/kernel-settings.js";
import type { Terminal } from "./terminal.js";

/** Adds the arguments, options and action of a command; each module of a command exports one as `define`. */
export type DefineCommand = (command: Command, context: CommandContext) => void;

export interface CommandContext {
  readonly terminal: Terminal;
  /** Version of the program. */
  readonly version: string;
  /** Waits for a command; its exit code becomes that of the program. */
  exitWith(exitCode: Promise<number>): Promise<void>;
}

/** An option whose value has the name of a setting: by itself commander names it after the option. */
class NamedOption extends Option {
  readonly #name: string;

  constructor(name: string, flags: string, description: string) {
    super(flags, description);
    this.#name = name;
  }

  override attributeName(): string {
    return this.#name;
  }
}

/** Adds the options of kernel settings, described as in the reference. */
export function withSettings(command: Command, names: readonly KernelName[]): Command {
  for (const name of names) {
    const { option, doc, default: preset }: KernelProperty = kernelProperties[name];
    const shown = String(preset ?? "");
    const description = shown === "" ? doc : `${doc} (default: ${shown})`;
    if (option !== undefined) command.addOption(new NamedOption(name, option, description));
  }
  return command;
}

export function withConfiguration(command: Command): Command {
  return command
    .requiredOption("-f, --config <file>", "properties file")
    .option("-n, --name <agent>", "agent of the file; may be omitted when the file holds one");
}

export function withPlugins(command: Command): Command {
  const { option: folders } = pluginFoldersProperty;
  const { option: packages } = pluginPackagesProperty;
  return command
    .addOption(new NamedOption("pluginFolders", folders, "further folders with plugins"))
    .addOption(new NamedOption("pluginPackages", packages, "installed npm packages with plugins"));
}
