import type { EditedText } from "../files/edited-text.js";
import { isRecord } from "../sdk/event.js";
import { AgentError } from "../sdk/index.js";
import {
  type AppenderChange,
  type AppenderDefinition,
  type AppenderFileTarget,
  appenderItem,
  isAppender,
  type LogFileTarget,
  type LoggerFileTarget,
  type LoggerItem,
  type LogLevel,
  parseLogLevel,
} from "./definitions.js";

/** The JSON of a logging file; unknown members are preserved. */
export interface LoggingDocument {
  readonly [name: string]: unknown;
  /** By name. */
  readonly appenders?: Readonly<Record<string, unknown>>;
  readonly loggers?: Readonly<Record<string, unknown>>;
}

/** Reads the text of a logging file; an absent file is an empty document. Throws code `LOGGING_FILE_NOT_VALID`. */
export function readLoggingDocument(text: string | undefined): LoggingDocument {
  if (text === undefined || text.trim() === "") return {};
  const document = parsed(text);
  if (isLoggingDocument(document)) return document;
  throw notValid('it must be an object with the objects "appenders" and "loggers"');
}

function loggingText(document: LoggingDocument): string {
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

/** The appenders of a document, and the names of those that are invalid. */
export function appendersOf({ appenders = {} }: LoggingDocument): Readings<AppenderDefinition> {
  return readings(appenders, (name, value) => {
    if (!isRecord(value) || typeof value["class"] !== "string") return undefined;
    const { class: className, layout, ConversionPattern: pattern, file, maxFileSize, maxFiles } = value;
    const conversionPattern = typeof pattern === "string" ? pattern : "";
    if (!isAppender({ name, conversionPattern })) return undefined;
    return {
      name,
      class: className,
      layout: typeof layout === "string" ? layout : "json",
      conversionPattern,
      ...(typeof file === "string" ? { file } : {}),
      ...(isCount(maxFileSize) ? { maxFileSize } : {}),
      ...(isCount(maxFiles) ? { maxFiles } : {}),
    };
  });
}

/** The levels of a document by logger, and the names of loggers whose level is invalid. */
export function levelsOf({ loggers = {} }: LoggingDocument): Readings<readonly [string, LogLevel]> {
  return readings(loggers, (name, value) => {
    const level = typeof value === "string" ? parseLogLevel(value) : undefined;
    return level === undefined ? undefined : ([name, level] as const);
  });
}

interface Readings<T> {
  readonly values: readonly T[];
  /** Names of the entries that could not be read. */
  readonly invalid: readonly string[];
}

function readings<T>(
  members: Readonly<Record<string, unknown>>,
  read: (name: string, value: unknown) => T | undefined,
): Readings<T> {
  const all = Object.entries(members).map(([name, value]) => ({ name, value: read(name, value) }));
  return {
    values: all.flatMap(({ value }) => (value === undefined ? [] : [value])),
    invalid: all.filter(({ value }) => value === undefined).map(({ name }) => name),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\ufeff/, ""));
  } catch (cause) {
    throw notValid("it is not JSON", cause);
  }
}

function notValid(reason: string, cause?: unknown): AgentError {
  const message = `reading the logging file: ${reason}; repair or remove it`;
  return new AgentError("LOGGING_FILE_NOT_VALID", message, { cause, retryable: false });
}

function isLoggingDocument(value: unknown): value is LoggingDocument {
  return (
    isRecord(value) && [value["appenders"], value["loggers"]].every((part) => part === undefined || isRecord(part))
  );
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0;
}

/** The appenders of the logging file. */
export function fileAppenders(text: EditedText): AppenderFileTarget {
  return fileTarget(text, {
    part: "appenders",
    items: (document) => appendersOf(document).values.map(appenderItem),
    entry: (change: AppenderChange, old) => ({
      ...(isRecord(old) ? old : {}),
      class: change.class,
      layout: change.layout,
      ConversionPattern: change.conversionPattern,
    }),
  });
}

/** The loggers of the logging file. */
export function fileLoggers(text: EditedText): LoggerFileTarget {
  return fileTarget(text, {
    part: "loggers",
    items: (document) => levelsOf(document).values.map(([name, level]) => ({ name, level })),
    entry: ({ level }: LoggerItem) => level,
  });
}

interface FilePart<Item, Change> {
  readonly part: "appenders" | "loggers";
  readonly items: (document: LoggingDocument) => readonly Item[];
  /** The entry that is written for a change; `old` is the present entry. */
  readonly entry: (change: Change, old: unknown) => unknown;
}

/** Each change replaces the entry of one name; the rest of the file is preserved. */
function fileTarget<Item, Change extends { readonly name: string }>(
  text: EditedText,
  { part, items, entry }: FilePart<Item, Change>,
): LogFileTarget<Item, Change> {
  const edit = <T>(change: (entries: ReadonlyMap<string, unknown>) => Changed<T>): Promise<T> =>
    text.edit((old) => {
      const document = readLoggingDocument(old);
      const { entries, result } = change(new Map(Object.entries(document[part] ?? {})));
      if (entries === undefined) return { result };
      return { text: loggingText({ ...document, [part]: Object.fromEntries(entries) }), result };
    });
  const withEntry = (entries: ReadonlyMap<string, unknown>, change: Change) =>
    new Map([...entries, [change.name, entry(change, entries.get(change.name))]]);
  return {
    list: async () => items(readLoggingDocument(await text.read())),
    put: (change) =>
      edit((entries) => ({
        entries: withEntry(entries, change),
        result: entries.has(change.name) ? "updated" : "added",
      })),
    add: (change) =>
      edit((entries) =>
        entries.has(change.name) ? { result: false } : { entries: withEntry(entries, change), result: true },
      ),
    remove: (name) =>
      edit((entries) => {
        if (!entries.has(name)) return { result: false };
        return { entries: new Map([...entries].filter(([other]) => other !== name)), result: true };
      }),
    removeAll: () => edit(() => ({ entries: new Map(), result: undefined })),
  };
}

interface Changed<T> {
  /** Undefined when the file does not change. */
  readonly entries?: ReadonlyMap<string, unknown>;
  readonly result: T;
}
