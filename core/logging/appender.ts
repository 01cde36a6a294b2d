import path from "node:path";
import { type AppenderDefinition, isJsonLayout, sinkOfClass } from "./appender-definition.js";
import { conversionPattern } from "./conversion-pattern.js";
import type { LogRecord } from "./log-record.js";
import { RotatingFile } from "./rotating-file.js";

/** Where lines end up: the standard output of the process, or what a test puts in its place. */
export interface LineStream {
  write(text: string): void;
}

/** An appender that is open. */
export interface Appender {
  readonly definition: AppenderDefinition;
  /** One entry, as the JSON line of pino and taken apart. */
  append(line: string, record: () => LogRecord): void;
  close(): void;
}

export interface AppenderSurroundings {
  readonly console: LineStream;
  /** Folder of the log files of appenders that name none. */
  readonly folder: string;
  /** Told once when an appender cannot write, and again after it could. */
  readonly problem: (appender: string, error: unknown) => void;
}

const MEGABYTE = 1024 * 1024;

/** Opens an appender; undefined when its class is not known here. A file is opened with the first line. */
export function openAppender(definition: AppenderDefinition, surroundings: AppenderSurroundings): Appender | undefined {
  const sink = sinkOfClass(definition.class);
  if (sink === undefined) return undefined;
  const { name, file = path.join(surroundings.folder, `${encodeURIComponent(name)}.log`) } = definition;
  const { maxFileSize = 10 * MEGABYTE, maxFiles = 5 } = definition;
  const stream =
    sink === "console" ? withoutEnd(surroundings.console) : new RotatingFile({ file, maxFileSize, maxFiles });
  return appenderOn(stream, definition, surroundings.problem);
}

interface ClosableStream extends LineStream {
  close(): void;
}

function appenderOn(
  stream: ClosableStream,
  definition: AppenderDefinition,
  problem: AppenderSurroundings["problem"],
): Appender {
  const text = layoutOf(definition);
  let failing = false;
  return {
    definition,
    append(line, record) {
      try {
        stream.write(text(line, record));
        failing = false;
      } catch (error) {
        if (!failing) problem(definition.name, error);
        failing = true;
      }
    },
    close: () => stream.close(),
  };
}

type Layout = (line: string, record: () => LogRecord) => string;

function layoutOf({ layout, conversionPattern: pattern }: AppenderDefinition): Layout {
  if (isJsonLayout(layout)) return (line) => line;
  const write = conversionPattern(pattern);
  return (_line, record) => write(record());
}

function withoutEnd(stream: LineStream): ClosableStream {
  return { write: (text) => stream.write(text), close: () => {} };
}
