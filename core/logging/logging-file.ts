import type { EditedText } from "../files/edited-text.js";
import { appenderItem } from "./appender-definition.js";
import { appendersOf, type LoggingDocument, levelsOf, loggingText, readLoggingDocument } from "./logging-document.js";
import type { AppenderChange, AppenderFileTarget, LogFileTarget, LoggerFileTarget, LoggerItem } from "./targets.js";

/** The appenders of the logging file. */
export function fileAppenders(text: EditedText): AppenderFileTarget {
  return fileTarget(text, {
    part: "appenders",
    items: (document) => appendersOf(document).values.map(appenderItem),
    entry: (change: AppenderChange, old) => ({
      ...(typeof old === "object" && old !== null ? old : {}),
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
  /** What is written for a change, given what is there. */
  readonly entry: (change: Change, old: unknown) => unknown;
}

/** Each change touches the entry of one name and leaves everything else in the file as it is. */
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
  /** Undefined leaves the file alone. */
  readonly entries?: ReadonlyMap<string, unknown>;
  readonly result: T;
}
