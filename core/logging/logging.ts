import { pino } from "pino";
import { editedFile } from "../files/edited-text.js";
import { reasonOf } from "../sdk/index.js";
import type { Loggers } from "../tokens.js";
import type { LineStream } from "./appenders.js";
import { RunningAppenders } from "./appenders.js";
import type { LoggingTargets } from "./definitions.js";
import { builtInAppender, type LogLevel, parseLogLevel, sinkOfClass } from "./definitions.js";
import { pinoRoot, ROOT_LOGGER, RunningLoggers } from "./loggers.js";
import {
  appendersOf,
  fileAppenders,
  fileLoggers,
  type LoggingDocument,
  levelsOf,
  readLoggingDocument,
} from "./logging-file.js";

export interface LoggingSetup {
  /** The logging file; it need not exist. */
  readonly file: string;
  /** Folder of the log files of appenders that name no file. */
  readonly folder: string;
  /** Level of the root logger when the logging file sets none. */
  readonly level: string;
  /** Whether that level takes precedence over the logging file. */
  readonly levelGiven: boolean;
  /** Receives problems of the logging itself, which cannot be logged. */
  readonly report: (problem: string) => void;
  /** The standard output of the process when absent. */
  readonly console?: LineStream;
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
  for (const name of [...definitions.invalid, ...unknown])
    report(`${file}: appender "${name}" has no known class and is ignored`);
  for (const name of levels.invalid) report(`${file}: logger "${name}" has an unknown level and is ignored`);

  const own = new Map(levels.values);
  const appenders = new RunningAppenders(definitions.values, {
    console: setup.console ?? pino.destination({ fd: 1, sync: true }),
    folder,
    problem: (name, error) => report(`appender "${name}" cannot write: ${reasonOf(error)}`),
  });
  const loggers = new RunningLoggers(pinoRoot(appenders), { root: rootLevel(setup, own), own });
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
