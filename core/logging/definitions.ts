import type { LevelWithSilent } from "pino";

/** An appender as the logging file and the management interface describe it. */
export interface AppenderDefinition {
  readonly name: string;
  /** `console` or `file`, or a class name of log4j such as `org.apache.log4j.RollingFileAppender`. */
  readonly class: string;
  /** `pattern`, `json` or `pretty`, or a class name of log4j such as `org.apache.log4j.PatternLayout`. */
  readonly layout: string;
  readonly conversionPattern: string;
  /** Of an appender that writes a file; only the logging file can set it. */
  readonly file?: string;
  readonly maxFileSize?: number;
  readonly maxFiles?: number;
}

/** The appender of an agent whose logging file defines none. */
export const builtInAppender: AppenderDefinition = {
  name: "console",
  class: "console",
  layout: "json",
  conversionPattern: "%d{yyyy-MM-dd'T'HH:mm:ss.SSS'Z'} %-5p %c %m%n",
};

/** An appender as the management interface shows it: its layout is the pattern, or `json`, or `pretty`. */
export interface AppenderItem {
  readonly name: string;
  readonly layout: string;
}

export function appenderItem({ name, layout, conversionPattern }: AppenderDefinition): AppenderItem {
  const words = { json: "json", pretty: "pretty", pattern: conversionPattern };
  return { name, layout: words[layoutOf(layout)] };
}

/** Characters of the longest conversion pattern: all of it is gone through for each line of the log. */
const LONGEST_PATTERN = 10_000;

/** Whether an appender can have this name, of which a file may be named, and this pattern. */
export function isAppender({
  name,
  conversionPattern,
}: Pick<AppenderDefinition, "name" | "conversionPattern">): boolean {
  return name.isWellFormed() && conversionPattern.length <= LONGEST_PATTERN;
}

/** A name without `json` is a pattern, unless it is `pretty`. */
export function layoutOf(layout: string): "json" | "pretty" | "pattern" {
  const short = shortName(layout).toLowerCase();
  if (short === "pretty") return "pretty";
  return short.includes("json") ? "json" : "pattern";
}

/** Where an appender of that class writes; undefined for an unknown class. */
export function sinkOfClass(name: string): "console" | "file" | undefined {
  const short = shortName(name);
  if (/file/i.test(short)) return "file";
  return /console/i.test(short) ? "console" : undefined;
}

function shortName(className: string): string {
  return className.split(".").at(-1) ?? className;
}

/** The levels of the management interface and of the logging file, each with the matching level of pino. */
const pinoLevels = {
  FATAL: "fatal",
  ERROR: "error",
  WARN: "warn",
  INFO: "info",
  DEBUG: "debug",
  ALL: "trace",
  OFF: "silent",
} as const satisfies Record<string, LevelWithSilent>;

export type LogLevel = keyof typeof pinoLevels;

export function pinoLevel(level: LogLevel): LevelWithSilent {
  return pinoLevels[level];
}

/** Whether the text is a level exactly as the management interface writes it. */
export function isLogLevel(text: string): text is LogLevel {
  return Object.hasOwn(pinoLevels, text);
}

/** The level of that name, in upper or lower case; undefined when there is none. */
export function parseLogLevel(text: string): LogLevel | undefined {
  const level = text.toUpperCase();
  return isLogLevel(level) ? level : undefined;
}

/** A logger as the management interface shows it. */
export interface LoggerItem {
  readonly name: string;
  readonly level: LogLevel;
}

/** An appender as a request describes it; absent members keep their value. */
export interface AppenderChange {
  readonly name: string;
  readonly class?: string;
  readonly layout?: string;
  readonly conversionPattern: string;
}

/** `absent`: there is no entry of that name, and this target does not add entries. */
export type PutResult = "updated" | "added" | "absent";

/** The target of the operations on appenders or loggers: the running agent, or the logging file. */
export interface LogTarget<Item, Change> {
  list(): Promise<readonly Item[]>;
  put(change: Change): Promise<PutResult>;
  /** False when there is no entry of that name. */
  remove(name: string): Promise<boolean>;
  removeAll(): Promise<void>;
}

/** The logging file, to which entries can be added. */
export interface LogFileTarget<Item, Change> extends LogTarget<Item, Change> {
  /** False when there is an entry of that name already. */
  add(change: Change): Promise<boolean>;
}

export type AppenderTarget = LogTarget<AppenderItem, AppenderChange>;
type LoggerTarget = LogTarget<LoggerItem, LoggerItem>;
/** The loggers of the running agent, whose root logger has a level even when it is not listed. */
export interface RunningLoggerTarget extends LoggerTarget {
  readonly rootLevel: LogLevel;
}

export type AppenderFileTarget = LogFileTarget<AppenderItem, AppenderChange>;
export type LoggerFileTarget = LogFileTarget<LoggerItem, LoggerItem>;

/** The parts of the logging that can be read and changed. */
export interface LoggingTargets {
  readonly running: { readonly appenders: AppenderTarget; readonly loggers: RunningLoggerTarget };
  readonly file: { readonly appenders: AppenderFileTarget; readonly loggers: LoggerFileTarget };
}
