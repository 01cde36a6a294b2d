import path from "node:path";
import { conversionPattern } from "./conversion-pattern.js";
import {
  type AppenderChange,
  type AppenderDefinition,
  type AppenderItem,
  type AppenderTarget,
  appenderItem,
  builtInAppender,
  layoutOf,
  type PutResult,
  sinkOfClass,
} from "./definitions.js";
import { type LogRecord, printable, readLogLine } from "./log-record.js";
import type { PrettyText } from "./pretty-text.js";
import { type ClosableStream, type LineStream, RotatingFile } from "./rotating-file.js";

/** The appenders of the running agent; the stream that pino writes to. */
export class RunningAppenders implements AppenderTarget {
  readonly #environment: AppenderEnvironment;
  readonly #open = new Map<string, Appender>();
  #pretty: PrettyText | undefined;

  constructor(definitions: readonly AppenderDefinition[], environment: AppenderEnvironment) {
    this.#environment = environment;
    this.#pretty = environment.pretty;
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
    if (layoutOf(changed.layout) === "pretty") this.#pretty ??= await this.#environment.loadPretty();
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
    const appender = openAppender(definition, { ...this.#environment, pretty: this.#pretty });
    if (appender !== undefined) this.#open.set(definition.name, appender);
  }
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
  /** The number of the worker that this process is: two processes cannot change the files of one log. */
  readonly worker?: number | undefined;
  /** How an appender with the layout `pretty` writes; absent while none has it. */
  readonly pretty?: PrettyText | undefined;
  /** Called when an appender gets that layout later. */
  readonly loadPretty: () => Promise<PrettyText>;
  /** Whether the console shows colors. */
  readonly colors: boolean;
  /** Called when an appender fails to write, and not again until it has written; then without an error. */
  readonly problem: (appender: string, error: unknown) => void;
}

const MEGABYTE = 1024 * 1024;

/** Opens an appender; undefined when its class is unknown. A file is opened by the first write. */
function openAppender(definition: AppenderDefinition, environment: AppenderEnvironment): Appender | undefined {
  const sink = sinkOfClass(definition.class);
  if (sink === undefined) return undefined;
  const { name, file = path.join(environment.folder, `${encodeURIComponent(name)}.log`) } = definition;
  const { maxFileSize = 10 * MEGABYTE, maxFiles = 5 } = definition;
  const own = fileOfWorker(file, environment.worker);
  const stream =
    sink === "console" ? withoutEnd(environment.console) : new RotatingFile({ file: own, maxFileSize, maxFiles });
  const text = textOf(definition, environment.pretty, sink === "console" && environment.colors);
  return appenderOn(stream, { definition, text, problem: environment.problem });
}

/** `agent.log` of worker 2 is `agent.worker-2.log`. */
function fileOfWorker(file: string, worker: number | undefined): string {
  if (worker === undefined) return file;
  const { dir, name, ext } = path.parse(file);
  return path.join(dir, `${name}.worker-${worker}${ext}`);
}

interface AppenderParts extends Pick<Appender, "definition">, Pick<AppenderEnvironment, "problem"> {
  readonly text: Layout;
}

function appenderOn(stream: ClosableStream, { definition, text, problem }: AppenderParts): Appender {
  let failing = false;
  return {
    definition,
    append(line, record) {
      try {
        stream.write(text(line, record));
        if (failing) problem(definition.name, undefined);
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

function textOf(
  { layout, conversionPattern: pattern }: AppenderDefinition,
  pretty: PrettyText | undefined,
  colors: boolean,
): Layout {
  const named = layoutOf(layout);
  if (named === "json") return (line) => line;
  const write = named === "pretty" && pretty !== undefined ? pretty(colors) : conversionPattern(pattern);
  return (_line, record) => write(record());
}

function withoutEnd(stream: LineStream): ClosableStream {
  return { write: (text) => stream.write(text), close: () => {} };
}
