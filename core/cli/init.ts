import { type FileHandle, open, rm } from "node:fs/promises";
import path from "node:path";
import { type Command, Option } from "commander";
import { makeFolder } from "../files/make-folder.js";
import { AgentError, codeOf } from "../sdk/index.js";
import { type CommandContext, exitCodes, type Terminal } from "./command.js";
import { type StarterDatabase, starterDatabases, starterFile } from "./init/starter-file.js";
import { shellWord } from "./typed-program.js";

interface InitOptions {
  readonly database: StarterDatabase;
  readonly name: string;
}

export function define(command: Command, { terminal, exitWith }: CommandContext): void {
  const database = new Option("-d, --database <database>", "where rows are stored; embedded: SQLite files, no server")
    .choices(starterDatabases)
    .default("embedded");
  command
    .argument("<file>", "properties file to create; one that exists stays unchanged")
    .addOption(database)
    .option("-n, --name <agent>", "name of the agent", "deneb")
    .action((file: string, options: InitOptions) => exitWith(init(file, options, terminal)));
}

const NAME = /^[A-Za-z0-9_-]+$/;

/** `deneb init`: writes a properties file to start with, and never over another file. */
async function init(file: string, { database, name }: InitOptions, terminal: Terminal): Promise<number> {
  if (!NAME.test(name)) {
    terminal.err(`error: --name = ${JSON.stringify(name)}: must be of letters, digits, "-" and "_"`);
    return exitCodes.badInput;
  }
  if (!(await created(file, starterFile(name, database)))) {
    terminal.err(`error: "${file}" exists and stays unchanged; give the name of a file that does not exist`);
    return exitCodes.badInput;
  }
  terminal.out(`${file}: ${written[database]}`);
  const program = terminal.program ?? "deneb";
  terminal.out(`next: ${program} check --config ${shellWord(file)} && ${program} run --config ${shellWord(file)}`);
  return exitCodes.success;
}

const written: Readonly<Record<StarterDatabase, string>> = {
  embedded: "notifications on port 5050, rows in SQLite files in the data directory",
  postgresql:
    "notifications on port 5050, rows in PostgreSQL on localhost; set AGENT_RDB_PASS, or change the lines rdb_...",
  mysql: "notifications on port 5050, rows in MySQL on localhost; set AGENT_RDB_PASS, or change the lines rdb_...",
};

/** False when something of that name exists, a link without a target too. A file that cannot be completed is removed. */
async function created(file: string, text: string): Promise<boolean> {
  try {
    await makeFolder(path.dirname(file));
    const handle = await opened(file);
    if (handle === undefined) return false;
    try {
      await handle.writeFile(text);
    } catch (error) {
      await rm(file, { force: true });
      throw error;
    } finally {
      await handle.close();
    }
    return true;
  } catch (cause) {
    const message = `writing the properties file "${file}"`;
    throw new AgentError("FILE_NOT_WRITTEN", message, { cause, retryable: false });
  }
}

async function opened(file: string): Promise<FileHandle | undefined> {
  try {
    return await open(file, "wx");
  } catch (error) {
    if (codeOf(error) === "EEXIST") return undefined;
    throw error;
  }
}
