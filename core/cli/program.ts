import { readFileSync } from "node:fs";
import { Command, CommanderError } from "commander";
import { pluginFoldersProperty, pluginPackagesProperty } from "../configuration/schema/kernel-properties.js";
import { reasonWithRemedy } from "../files/refused-access.js";
import { isRecord } from "../sdk/event.js";
import { type CommandContext, type DefineCommand, exitCodes, printingOnly, type Terminal } from "./command.js";

interface CommandEntry {
  readonly name: string;
  readonly description: string;
  readonly load: () => Promise<{ readonly define: DefineCommand }>;
}

/** A module is loaded when the arguments name its command: an agent starts without the modules of the others. */
const commands: readonly CommandEntry[] = [
  {
    name: "init",
    description: "write a commented properties file to start with",
    load: () => import("./init.js"),
  },
  { name: "run", description: "start an agent and run it until it is stopped", load: () => import("./run.js") },
  { name: "check", description: "report every fault of a properties file", load: () => import("./check.js") },
  { name: "migrate", description: "convert a properties file of FIWARE Cygnus", load: () => import("./migrate.js") },
  { name: "plugins", description: "list kind, type and origin of every plugin", load: () => import("./plugins.js") },
  { name: "sql", description: "run one query on the database of a sink", load: () => import("./sql.js") },
  { name: "tables", description: "list, adopt and partition the tables of a sink", load: () => import("./tables.js") },
  { name: "docs", description: "write the configuration reference of every plugin", load: () => import("./docs.js") },
  {
    name: "dead-letters",
    description: "list, replay and drop events that a sink could not store",
    load: () => import("./dead-letters.js"),
  },
  {
    name: "verify",
    description: "compare the ledger with the channels and the stores",
    load: () => import("./verify.js"),
  },
  {
    name: "erase",
    description: "erase what is stored and held of an entity or a service",
    load: () => import("./erase.js"),
  },
  {
    name: "export",
    description: "write stored rows as CSV, NDJSON or Parquet",
    load: () => import("./export.js"),
  },
  { name: "plugin", description: "create, run and test a plugin of your own", load: () => import("./plugin.js") },
  {
    name: "explain",
    description: "show how an agent would process a notification, without access to any database",
    load: () => import("./explain.js"),
  },
  {
    name: "completion",
    description: "print a script with which a shell completes commands and options",
    load: () => import("./completion.js"),
  },
];

const packageFile = new URL("../../../package.json", import.meta.url);
const revisionFile = new URL("../../revision.json", import.meta.url);

/** The command line: `run` resolves to the exit code of the command that the arguments name. */
export function createProgram(given: Terminal): { run(args: readonly string[]): Promise<number> } {
  const terminal = printingOnly(given);
  return {
    async run(args) {
      let exitCode: number = exitCodes.success;
      const exitWith = async (command: Promise<number>) => {
        exitCode = await command;
      };
      try {
        const version = readVersion(packageFile, revisionFile);
        const program = await programOf(args, { terminal, version, exitWith });
        await program.parseAsync([...args], { from: "user" });
        return exitCode;
      } catch (error) {
        if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.success : exitCodes.badInput;
        terminal.err(`deneb: ${await reasonWithRemedy(error)}`);
        return exitCodes.failure;
      }
    },
  };
}

/** The program with all commands; those that the arguments name have their options. */
async function programOf(args: readonly string[], given: Omit<CommandContext, "program">): Promise<Command> {
  const { terminal, version } = given;
  const whole = () =>
    programOf(
      commands.map(({ name }) => name),
      given,
    );
  const context: CommandContext = { ...given, program: whole };
  const program = new Command("deneb")
    .description("Receives NGSI notifications, buffers them and stores them in a relational database.")
    .version(version, "-v, --version")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.out(text.trimEnd()),
      writeErr: (text) => terminal.err(text.trimEnd()),
      outputError: (text, write) => write(`${text.trimEnd()}${swallowed(text, args)}`),
    });
  for (const { name, description, load } of commands) {
    const command = program.command(name).description(description);
    if (args.includes(name)) (await load()).define(command, context);
  }
  return program;
}

const PLUGIN_LISTS = [pluginFoldersProperty, pluginPackagesProperty].map(({ option }) => option.split(" ", 1).join());

/** An option that takes a list takes what is written behind it, too. */
function swallowed(text: string, args: readonly string[]): string {
  const list = PLUGIN_LISTS.find((name) => args.includes(name));
  if (list === undefined || !text.includes("missing required argument")) return "";
  return `; ${list} takes everything up to the next option: write the argument before it, or behind --`;
}

/** `<version>.<revision>`: the version of package.json and the source revision recorded by the build. */
function readVersion(packageJson: URL, revisionJson: URL): string {
  return `${textMember(packageJson, "version")}.${textMember(revisionJson, "revision")}`;
}

function textMember(file: URL, member: string): string {
  try {
    const content: unknown = JSON.parse(readFileSync(file, "utf8"));
    const value = isRecord(content) ? content[member] : undefined;
    return typeof value === "string" ? value : "UNKNOWN";
  } catch {
    return "UNKNOWN";
  }
}
