import { AgentError } from "../sdk/index.js";
import type { AppenderDefinition } from "./appender-definition.js";
import { type LogLevel, parseLogLevel } from "./log-levels.js";

/** The JSON of a logging file; what nobody here knows is kept. */
export interface LoggingDocument {
  readonly [name: string]: unknown;
  /** By name. */
  readonly appenders?: Readonly<Record<string, unknown>>;
  readonly loggers?: Readonly<Record<string, unknown>>;
}

/** Reads the text of a logging file; none is an empty document. Throws code `LOGGING_FILE_NOT_VALID`. */
export function readLoggingDocument(text: string | undefined): LoggingDocument {
  if (text === undefined || text.trim() === "") return {};
  const document = parsed(text);
  if (isLoggingDocument(document)) return document;
  throw notValid('it must be an object with the objects "appenders" and "loggers"');
}

export function loggingText(document: LoggingDocument): string {
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

/** The appenders of a document, with those that are not fit for use as faults. */
export function appendersOf({ appenders = {} }: LoggingDocument): Readings<AppenderDefinition> {
  return readings(appenders, (name, value) => {
    if (!isObject(value) || typeof value["class"] !== "string") return undefined;
    const { class: className, layout, ConversionPattern: pattern, file, maxFileSize, maxFiles } = value;
    return {
      name,
      class: className,
      layout: typeof layout === "string" ? layout : "json",
      conversionPattern: typeof pattern === "string" ? pattern : "",
      ...(typeof file === "string" ? { file } : {}),
      ...(isCount(maxFileSize) ? { maxFileSize } : {}),
      ...(isCount(maxFiles) ? { maxFiles } : {}),
    };
  });
}

/** The levels of a document by logger. */
export function levelsOf({ loggers = {} }: LoggingDocument): Readings<readonly [string, LogLevel]> {
  return readings(loggers, (name, value) => {
    const level = typeof value === "string" ? parseLogLevel(value) : undefined;
    return level === undefined ? undefined : ([name, level] as const);
  });
}

export interface Readings<T> {
  readonly values: readonly T[];
  /** Names of what could not be read. */
  readonly faults: readonly string[];
}

function readings<T>(
  members: Readonly<Record<string, unknown>>,
  read: (name: string, value: unknown) => T | undefined,
): Readings<T> {
  const all = Object.entries(members).map(([name, value]) => ({ name, value: read(name, value) }));
  return {
    values: all.flatMap(({ value }) => (value === undefined ? [] : [value])),
    faults: all.filter(({ value }) => value === undefined).map(({ name }) => name),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\ufeff/, ""));
  } catch (cause) {
    throw notValid("it is no JSON", cause);
  }
}

function notValid(reason: string, cause?: unknown): AgentError {
  const message = `reading the logging file: ${reason}; repair or remove it`;
  return new AgentError("LOGGING_FILE_NOT_VALID", message, { cause, retryable: false });
}

function isLoggingDocument(value: unknown): value is LoggingDocument {
  return (
    isObject(value) && [value["appenders"], value["loggers"]].every((part) => part === undefined || isObject(part))
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0;
}
