import { pino } from "pino";
import { editedFile } from "../files/edited-text.js";
import { reasonOf } from "../sdk/index.js";
import type { Loggers } from "../tokens.js";
import type { LineStream } from "./appender.js";
import { builtInAppender, sinkOfClass } from "./appender-definition.js";
import { type LogLevel, parseLogLevel } from "./log-levels.js";
import { appendersOf, type LoggingDocument, levelsOf, readLoggingDocument } from "./logging-document.js";
import { fileAppenders, fileLoggers } from "./logging-file.js";
import { pinoRoot } from "./pino-root.js";
import { RunningAppenders } from "./running-appenders.js";
import { ROOT_LOGGER, RunningLoggers } from "./running-loggers.js";
import type { LoggingTargets } from "./targets.js";

export interface LoggingSetup {
  /** The logging file; it need not exist. */
  readonly file: string;
  /** Folder of the files of appenders that name none. */
  readonly folder: string;
  /** Level of the root logger when the logging file names none. */
  readonly level: string;
  /** Whether that level holds whatever the logging file says. */
  readonly levelGiven: boolean;
  /** Told what cannot be logged. */
  readonly report: (problem: string) => void;
  /** The standard output of the process when absent. */
  readonly console?: LineStream;
}

export interface Logging extends LoggingTargets {
  readonly loggers: Loggers;
  /** Closes the log files. */
  close(): void;
}

/** Opens the logging as its file describes it. What the file has wrong is reported and left out: an agent without a perfect log is better than none. */
export async function openLogging(setup: LoggingSetup): Promise<Logging> {
  const { file, folder, report } = setup;
  const text = editedFile(file);
  const document = await documentOf(text.read(), setup);
  const definitions = appendersOf(document);
  const levels = levelsOf(document);
  const strange = definitions.values.filter((one) => sinkOfClass(one.class) === undefined).map(({ name }) => name);
  for (const name of [...definitions.faults, ...strange])
    report(`${file}: appender "${name}" is not of a known class; it is left out`);
  for (const name of levels.faults) report(`${file}: the level of logger "${name}" is not known; it is left out`);

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
