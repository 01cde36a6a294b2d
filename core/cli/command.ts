import { type Command, Option } from "commander";
import {
  kernelProperties,
  pluginFoldersProperty,
  pluginPackagesProperty,
} from "../configuration/schema/kernel-properties.js";
import type { KernelProperty } from "../configuration/schema/kernel-property.js";
import type { KernelName } from "../configuration/schema/kernel-settings.js";
import { printable } from "../logging/log-record.js";
import type { WorkerRole } from "./workers/role.js";

/** Adds the arguments, options and action of a command; each module of a command exports one as `define`. */
export type DefineCommand = (command: Command, context: CommandContext) => void;

export interface CommandContext {
  readonly terminal: Terminal;
  /** Version of the program. */
  readonly version: string;
  /** The program with all commands and their options. */
  program(): Promise<Command>;
  /** Waits for a command; its exit code becomes that of the program. */
  exitWith(exitCode: Promise<number>): Promise<void>;
}

/** An option whose value has the name of a setting: by itself commander names it after the option. */
class NamedOption extends Option {
  readonly #name: string;

  constructor(name: string, flags: string, description: string, choices?: readonly string[]) {
    super(flags, description);
    this.#name = name;
    // For the completion; what is allowed the configuration judges.
    if (choices !== undefined) this.argChoices = [...choices];
  }

  override attributeName(): string {
    return this.#name;
  }
}

/** Adds the options of kernel settings, described as in the reference. */
export function withSettings(command: Command, names: readonly KernelName[]): Command {
  for (const name of names) {
    const { option, doc, default: preset, format }: KernelProperty = kernelProperties[name];
    const shown = String(preset ?? "");
    const description = shown === "" ? doc : `${doc} (default: ${shown})`;
    if (option !== undefined) command.addOption(new NamedOption(name, option, description, choicesOf(format)));
  }
  return command;
}

/** An option with words to choose from, which its command judges. */
export function choice(flags: string, description: string, choices: readonly string[]): Option {
  const option = new Option(flags, description);
  option.argChoices = [...choices];
  return option;
}

function choicesOf(format: KernelProperty["format"]): readonly string[] | undefined {
  if (format === "flag") return ["true", "false"];
  return Array.isArray(format) ? format.map(String) : undefined;
}

export function withConfiguration(command: Command): Command {
  return command
    .requiredOption("-f, --config <file>", "properties file")
    .option("-n, --name <agent>", "agent of the file; may be omitted when the file holds one");
}

/** For commands over stored data, which without a file mean the database of the quickstart. */
export function withStoredConfiguration(command: Command): Command {
  return command
    .option("-f, --config <file>", "properties file (default: that of the quickstart, with the embedded database)")
    .option("-n, --name <agent>", "agent of the file; may be omitted when the file holds one");
}

export function withPlugins(command: Command): Command {
  const { option: folders } = pluginFoldersProperty;
  const { option: packages } = pluginPackagesProperty;
  return command
    .addOption(new NamedOption("pluginFolders", folders, "further folders with plugins"))
    .addOption(new NamedOption("pluginPackages", packages, "installed npm packages with plugins"));
}

/** What a command uses of the process; tests pass their own. */
export interface Terminal {
  out(line: string): void;
  err(line: string): void;
  /** Where rows are written; that of the process if absent. */
  readonly bytes?: NodeJS.WritableStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The words that start the program again, for messages; `deneb` if absent. */
  readonly program?: string;
  /** Present where standard output is a terminal; whether it shows colors. */
  readonly screen?: { readonly colors: boolean } | undefined;
  /**
   * Aborts when the user or the system stops the program. To be read when it is used: once it was read, a signal does not
   * end the process by itself, but after a moment at the most.
   */
  readonly stopRequested: AbortSignal;
  /** From now on the command ends by itself after a stop request, however long that takes, with its own exit code. */
  endsInOrder?(): void;
  /** Does what may block the process, as code of others: meanwhile SIGINT (Ctrl-C) and SIGTERM end the process by themselves. */
  interruptible?<T>(work: () => Promise<T>): Promise<T>;
  /** Calls the listener whenever a reload of the configuration is requested. */
  onReload?(listener: () => void): void;
  /** Calls the listener at each Enter, where somebody can type, until the returned function is called. */
  onEnter?(listener: () => void): () => void;
  /**
   * From now on calls the listener when a stop is asked for a second time. It returns how many events the end of the
   * process would lose now.
   */
  onStopAgain?(listener: () => number): void;
  /** Present in a process that the supervisor of an agent has started; `ready` says that its agent runs. */
  readonly worker?: { readonly role: WorkerRole; ready(): void } | undefined;
  /**
   * Registers what is called with an error that nobody caught: false when it must end the process. `suspects` are the types of
   * the plugins that may have thrown it, for the last message.
   */
  onStrayError?(listener: (error: unknown) => boolean, suspects: readonly string[]): void;
}

/** Exit codes of the program. */
export const exitCodes = {
  success: 0,
  failure: 1,
  badInput: 2,
  folderInUse: 3,
  eventsLost: 4,
  leftOut: 5,
  notUsable: 6,
} as const;

/** The same terminal without control characters in its lines: names and messages may come from anywhere. */
export function printingOnly(terminal: Terminal): Terminal {
  const { env, program, bytes, screen, worker } = terminal;
  return {
    out: (line) => terminal.out(printable(line)),
    err: (line) => terminal.err(printable(line)),
    ...(bytes === undefined ? {} : { bytes }),
    env,
    ...(program === undefined ? {} : { program }),
    screen,
    worker,
    get stopRequested() {
      return terminal.stopRequested;
    },
    endsInOrder: () => terminal.endsInOrder?.(),
    interruptible: (work) => terminal.interruptible?.(work) ?? work(),
    onEnter: (listener) => terminal.onEnter?.(listener) ?? (() => {}),
    onReload: (listener) => terminal.onReload?.(listener),
    onStopAgain: (listener) => terminal.onStopAgain?.(listener),
    onStrayError: (listener, suspects) => terminal.onStrayError?.(listener, suspects),
  };
}
