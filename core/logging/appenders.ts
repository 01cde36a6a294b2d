import { closeSync, existsSync, fstatSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import path from "node:path";
import { conversionPattern } from "./conversion-pattern.js";
import {
  type AppenderChange,
  type AppenderDefinition,
  type AppenderItem,
  type AppenderTarget,
  appenderItem,
  builtInAppender,
  isJsonLayout,
  type PutResult,
  sinkOfClass,
} from "./definitions.js";
import { type LogRecord, printable, readLogLine } from "./log-record.js";

/** The appenders of the running agent; the stream that pino writes to. */
export class RunningAppenders implements AppenderTarget {
  readonly #environment: AppenderEnvironment;
  readonly #open = new Map<string, Appender>();

  constructor(definitions: readonly AppenderDefinition[], environment: AppenderEnvironment) {
    this.#environment = environment;
    for (const definition of definitions) this.#append(definition);
    if (this.#open.size === 0) this.#append(builtInAppender);
  }

  /** Takes one JSON line with its line end. */
  write(given: string): void {
    const line = printable(given);
    let record: LogRecord | undefined;
    const read = () => {
      record ??= readLogLine(line);
      return record;
    };
    for (const appender of this.#open.values()) appender.append(line, read);
  }

  async list(): Promise<readonly AppenderItem[]> {
    return [...this.#open.values()].map(({ definition }) => appenderItem(definition));
  }

  /** Changes the layout of an appender. When all were removed, the built-in one can be put again. */
  async put({ name, layout, conversionPattern }: AppenderChange): Promise<PutResult> {
    const last = this.#open.size === 0 && name === builtInAppender.name ? builtInAppender : undefined;
    const definition = this.#open.get(name)?.definition ?? last;
    if (definition === undefined) return "absent";
    const changed = { ...definition, layout: layout ?? "pattern", conversionPattern };
    this.#open.get(name)?.close();
    this.#append(changed);
    return "updated";
  }

  async remove(name: string): Promise<boolean> {
    this.#open.get(name)?.close();
    return this.#open.delete(name);
  }

  async removeAll(): Promise<void> {
    this.close();
    this.#open.clear();
  }

  /** Closes the files; a line written later opens its file again. */
  close(): void {
    for (const appender of this.#open.values()) appender.close();
  }

  #append(definition: AppenderDefinition): void {
    const appender = openAppender(definition, this.#environment);
    if (appender !== undefined) this.#open.set(definition.name, appender);
  }
}

/** A stream for lines: the standard output of the process, or a replacement in a test. */
export interface LineStream {
  write(text: string): void;
}

/** An open appender. */
interface Appender {
  readonly definition: AppenderDefinition;
  /** Writes one entry, given as the JSON line of pino and as a record that is parsed on demand. */
  append(line: string, record: () => LogRecord): void;
  close(): void;
}

interface AppenderEnvironment {
  readonly console: LineStream;
  /** Folder of the log files of appenders that name none. */
  readonly folder: string;
  /** Called when an appender fails to write, and not again until it has written. */
  readonly problem: (appender: string, error: unknown) => void;
}

const MEGABYTE = 1024 * 1024;

/** Opens an appender; undefined when its class is unknown. A file is opened by the first write. */
function openAppender(definition: AppenderDefinition, environment: AppenderEnvironment): Appender | undefined {
  const sink = sinkOfClass(definition.class);
  if (sink === undefined) return undefined;
  const { name, file = path.join(environment.folder, `${encodeURIComponent(name)}.log`) } = definition;
  const { maxFileSize = 10 * MEGABYTE, maxFiles = 5 } = definition;
  const stream =
    sink === "console" ? withoutEnd(environment.console) : new RotatingFile({ file, maxFileSize, maxFiles });
  return appenderOn(stream, definition, environment.problem);
}

interface ClosableStream extends LineStream {
  close(): void;
}

function appenderOn(
  stream: ClosableStream,
  definition: AppenderDefinition,
  problem: AppenderEnvironment["problem"],
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

interface RotatingFileOptions {
  readonly file: string;
  /** Size in bytes at which a new file is started. */
  readonly maxFileSize: number;
  /** Number of files that are kept, the current one included. */
  readonly maxFiles: number;
}

/** A file that lines are appended to. When it is full it is renamed to `<file>.1`, the older one to `<file>.2` and so on. */
class RotatingFile {
  readonly #options: RotatingFileOptions;
  #open: { readonly descriptor: number; size: number } | undefined;

  constructor(options: RotatingFileOptions) {
    this.#options = options;
  }

  /** Writes synchronously, so that the lines before a crash are in the file. Throws the error of the system. */
  write(text: string): void {
    const bytes = Buffer.from(text);
    const full = this.#opened();
    if (full.size > 0 && full.size + bytes.length > this.#options.maxFileSize) this.#rotate();
    const current = this.#opened();
    for (let from = 0; from < bytes.length; ) from += writeSync(current.descriptor, bytes, from);
    current.size += bytes.length;
  }

  /** Can be called twice; a later write opens the file again. */
  close(): void {
    if (this.#open !== undefined) closeSync(this.#open.descriptor);
    this.#open = undefined;
  }

  #opened(): { readonly descriptor: number; size: number } {
    if (this.#open !== undefined) return this.#open;
    mkdirSync(path.dirname(this.#options.file), { recursive: true });
    const descriptor = openSync(this.#options.file, "a", 0o640);
    this.#open = { descriptor, size: fstatSync(descriptor).size };
    return this.#open;
  }

  #rotate(): void {
    const { file, maxFiles } = this.#options;
    this.close();
    for (let number = maxFiles - 1; number > 0; number -= 1) {
      const older = number === 1 ? file : `${file}.${number - 1}`;
      if (existsSync(older)) renameSync(older, `${file}.${number}`);
    }
    if (maxFiles < 2) rmSync(file);
  }
}
