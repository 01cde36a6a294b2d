import { editedFile } from "../files/edited-text.js";
import { reasonOf } from "../sdk/index.js";
import type { Loggers } from "../tokens.js";
import { RunningAppenders } from "./appenders.js";
import {
  type AppenderDefinition,
  builtInAppender,
  type LoggingTargets,
  type LogLevel,
  layoutOf,
  parseLogLevel,
  sinkOfClass,
} from "./definitions.js";
import { pinoRoot, ROOT_LOGGER, RunningLoggers } from "./loggers.js";
import {
  appendersOf,
  fileAppenders,
  fileLoggers,
  type LoggingDocument,
  levelsOf,
  readLoggingDocument,
} from "./logging-file.js";
import { loadPrettyText } from "./pretty-text.js";
import type { LineStream } from "./rotating-file.js";
import { StandardOutput } from "./standard-output.js";

interface LoggingSetup {
  /** The logging file; it need not exist. */
  readonly file: string;
  /** Folder of the log files of appenders that name no file. */
  readonly folder: string;
  /** Level of the root logger when the logging file sets none. */
  readonly level: string;
  /** Whether that level takes precedence over the logging file. */
  readonly levelGiven: boolean;
  /** The name of the agent, which each line has. */
  readonly agent: string;
  /** The number of the worker that this process is: each line has it, and its log files have names of their own. */
  readonly worker?: number | undefined;
  /** How the console appenders write. */
  readonly format: LogFormat;
  /** Present where standard output is a terminal. */
  readonly screen?: Screen | undefined;
  /** Receives problems of the logging itself, which cannot be logged. */
  readonly report: (problem: string) => void;
  /** The standard output of the process when absent. */
  readonly console?: LineStream;
}

/** The terminal that standard output is. */
export interface Screen {
  readonly colors: boolean;
}

export interface Logging extends LoggingTargets {
  readonly loggers: Loggers;
  /** Closes the log files. */
  close(): void;
}

/** Opens the logging that its file describes. Invalid entries are reported and ignored: they do not keep an agent from starting. */
export async function openLogging(setup: LoggingSetup): Promise<Logging> {
  const { file, folder, report } = setup;
  const text = editedFile(file);
  const document = await documentOf(text.read(), setup);
  const definitions = appendersOf(document);
  const levels = levelsOf(document);
  const unknown = definitions.values.filter((one) => sinkOfClass(one.class) === undefined).map(({ name }) => name);
  for (const name of definitions.invalid)
    report(`${file}: appender "${name}" has no class, or a name or pattern that cannot be used, and is ignored`);
  for (const name of unknown) report(`${file}: appender "${name}" has no known class and is ignored`);
  for (const name of levels.invalid) report(`${file}: logger "${name}" has an unknown level and is ignored`);

  const own = new Map(levels.values);
  const written = consoleAppenders(definitions.values, setup.format, setup.screen !== undefined);
  const isPretty = written.some(({ layout }) => layoutOf(layout) === "pretty");
  const appenders = new RunningAppenders(written, {
    pretty: isPretty ? await loadPrettyText() : undefined,
    loadPretty: loadPrettyText,
    colors: setup.screen?.colors ?? false,
    console: setup.console ?? new StandardOutput(),
    folder,
    worker: setup.worker,
    problem: (name, error) =>
      report(
        error === undefined ? `appender "${name}" writes again` : `appender "${name}" cannot write: ${reasonOf(error)}`,
      ),
  });
  const loggers = new RunningLoggers(pinoRoot(appenders, { agent: setup.agent, worker: setup.worker }), {
    root: rootLevel(setup, own),
    own,
  });
  return {
    loggers,
    running: { appenders, loggers },
    file: { appenders: fileAppenders(text), loggers: fileLoggers(text) },
    close: () => appenders.close(),
  };
}

async function documentOf(
  reading: Promise<string | undefined>,
  { file, report }: LoggingSetup,
): Promise<LoggingDocument> {
  try {
    return readLoggingDocument(await reading);
  } catch (error) {
    report(`${file}: ${reasonOf(error)}; appender "${builtInAppender.name}" is used`);
    return {};
  }
}

function rootLevel({ level, levelGiven }: LoggingSetup, own: ReadonlyMap<string, LogLevel>): LogLevel {
  const given = parseLogLevel(level) ?? "INFO";
  return levelGiven ? given : (own.get(ROOT_LOGGER) ?? given);
}

/** How console appenders write; `auto`: for people on a terminal, else as their logging file says. */
export type LogFormat = "json" | "pretty" | "auto";

/**
 * The appenders of a start. A format that was asked for is that of all console appenders; `auto` changes those whose layout is
 * JSON, which is for programs, and no pattern. Without any appender there is the built-in one.
 */
function consoleAppenders(
  definitions: readonly AppenderDefinition[],
  format: LogFormat,
  isScreen: boolean,
): readonly AppenderDefinition[] {
  const known = definitions.filter((one) => sinkOfClass(one.class) !== undefined);
  const all = known.length === 0 ? [builtInAppender] : known;
  return all.map((one) => {
    if (sinkOfClass(one.class) !== "console") return one;
    if (format !== "auto") return { ...one, layout: format };
    return isScreen && layoutOf(one.layout) === "json" ? { ...one, layout: "pretty" } : one;
  });
}
