import { Command, CommanderError } from "commander";
import { reasonOf } from "../sdk/index.js";
import { addDeadLetters } from "./dead-letters-command.js";
import { addExplain } from "./explain-command.js";
import { withManagement } from "./management-options.js";
import { addPlugin } from "./plugin-command.js";
import { exitCodes, printingOnly, type Settle, type Terminal } from "./terminal.js";
import { readVersion } from "./version.js";

const packageFile = new URL("../../../package.json", import.meta.url);
const revisionFile = new URL("../../revision.json", import.meta.url);

/** The command line: `run` resolves to the exit code of the command that the arguments name. */
export function createProgram(given: Terminal): { run(args: readonly string[]): Promise<number> } {
  const terminal = printingOnly(given);
  return {
    async run(args) {
      let exitCode: number = exitCodes.success;
      const program = commands(terminal, async (command) => {
        exitCode = await command;
      });
      try {
        await program.parseAsync([...args], { from: "user" });
        return exitCode;
      } catch (error) {
        if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.success : exitCodes.badInput;
        terminal.err(`deneb: ${reasonOf(error)}`);
        return exitCodes.failure;
      }
    },
  };
}

/** The modules of a command are loaded when it runs: an agent starts sooner without those of all others. */
function commands(terminal: Terminal, settle: Settle): Command {
  const version = readVersion(packageFile, revisionFile);
  const program = new Command("deneb")
    .description("Receives NGSI notifications, buffers them and stores them in a relational database.")
    .version(version, "-v, --version")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.out(text.trimEnd()),
      writeErr: (text) => terminal.err(text.trimEnd()),
    });

  withPlugins(
    withManagement(withConfiguration(program.command("run").description("start an agent and keep it running"))),
  )
    .option("-p, --management-port <port>", "port of the management interface (default: 5080)")
    .option("--management-host <host>", "address the management interface binds (default: 127.0.0.1)")
    .option("--data-dir <folder>", "folder for everything the agent keeps (default: data)")
    .option("--logging <file>", "logging file: appenders and levels (default: config/logging.json)")
    .option("--grace-period <seconds>", "time a stop may take to store what is waiting (default: 30)")
    .option("--start-timeout <seconds>", "time a source or sink may take to start, 0 for ever (default: 30)")
    .option("--lock-wait <seconds>", "time to wait for another agent that uses the data directory (default: 10)")
    .option("--reload-interval <seconds>", "time between two looks at the properties file, 0 for never (default: 30)")
    .option("--dead-letter-days <days>", "age at which dead letters are removed, 0 for never (default: 0)")
    .option("--dead-letter-bytes <bytes>", "most dead letters of one sink, 0 for no limit (default: 1073741824)")
    .option("--dead-letter-replay <flag>", "whether letters whose retries ran out are replayed (default: true)")
    .option("--log-level <level>", "least level of log lines: debug, info, warn or error (default: info)")
    .action((options) =>
      settle(import("./run.js").then(({ run }) => run(withKernelFlags(options), version, terminal))),
    );

  withPlugins(withConfiguration(program.command("check").description("report every fault of a properties file")))
    .option("-p, --management-port <port>", "port that the management interface is going to have (default: 5080)")
    .option("--management-host <host>", "address that it is going to have (default: 127.0.0.1)")
    .action(({ plugins: pluginFolders, ...rest }) =>
      settle(import("./check.js").then(({ check }) => check({ ...rest, pluginFolders }, terminal))),
    );

  withPlugins(program.command("migrate").description("print a file of the original in new spelling"))
    .requiredOption("-f, --config <file>", "properties file of the original")
    .option("--with-secrets", "print passwords and tokens; else environment variables stand for them")
    .action((options) => settle(import("./migrate.js").then(({ migrate }) => migrate(options, terminal))));

  withPlugins(program.command("plugins").description("list kind, type and origin of every plugin")).action(
    ({ plugins: pluginFolders, ...rest }) =>
      settle(import("./plugins.js").then(({ plugins }) => plugins({ ...rest, pluginFolders }, terminal))),
  );

  withPlugins(program.command("sql").description("run one query over the embedded database, or over a sink's database"))
    .argument("<query>", "a reading SQL statement")
    .option("-f, --config <file>", "query the database of a sink of this properties file")
    .option("-n, --name <agent>", "agent of the file, when it holds several")
    .option("-s, --sink <sink>", "sink of the agent, when it has several with a database")
    .option("--data-dir <folder>", "data directory of the agent (default: data)")
    .option("--json", "print the rows as JSON")
    .action((query, { plugins: pluginFolders, ...rest }) =>
      settle(import("./sql.js").then(({ sql }) => sql(query, { ...rest, pluginFolders }, terminal))),
    );

  withPlugins(program.command("docs").description("write the configuration reference of every plugin"))
    .option("--out <folder>", "folder of the pages", "docs/reference")
    .action(({ out, plugins: pluginFolders, ...rest }) =>
      settle(import("./docs.js").then(({ docs }) => docs(out, { ...rest, pluginFolders }, terminal))),
    );

  addDeadLetters(program, settle, terminal);
  addPlugin(program, settle, terminal);
  addExplain(withPlugins(program.command("explain")), settle, terminal);
  return program;
}

/** Commander names an option after its long form; settings that measure something name their unit, too. */
function withKernelFlags<O extends KernelOptions>(options: O) {
  const { plugins: pluginFolders, gracePeriod: gracePeriodSeconds, reloadInterval: reloadIntervalSeconds } = options;
  const { startTimeout: startTimeoutSeconds, lockWait: lockWaitSeconds } = options;
  return {
    ...options,
    pluginFolders,
    gracePeriodSeconds,
    startTimeoutSeconds,
    lockWaitSeconds,
    reloadIntervalSeconds,
  };
}

interface KernelOptions {
  readonly plugins?: readonly string[];
  readonly gracePeriod?: string;
  readonly reloadInterval?: string;
  readonly startTimeout?: string;
  readonly lockWait?: string;
}

function withConfiguration(command: Command): Command {
  return command
    .requiredOption("-f, --config <file>", "properties file")
    .option("-n, --name <agent>", "agent of the file; may be left out when the file holds one");
}

function withPlugins(command: Command): Command {
  return command
    .option("--plugins <folder...>", "further folders with plugins")
    .option("--plugin-packages <name...>", "installed npm packages with plugins");
}
