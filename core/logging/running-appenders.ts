import { type Appender, type AppenderSurroundings, openAppender } from "./appender.js";
import { type AppenderDefinition, type AppenderItem, appenderItem, builtInAppender } from "./appender-definition.js";
import { type LogRecord, readLogLine } from "./log-record.js";
import { printable } from "./printable.js";
import type { AppenderChange, AppenderTarget, PutResult } from "./targets.js";

/** The appenders of the running agent; the stream that pino writes to. */
export class RunningAppenders implements AppenderTarget {
  readonly #surroundings: AppenderSurroundings;
  readonly #open = new Map<string, Appender>();

  constructor(definitions: readonly AppenderDefinition[], surroundings: AppenderSurroundings) {
    this.#surroundings = surroundings;
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

  /** Changes the layout of an appender. When all are gone, the built-in one can be put again. */
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
    const appender = openAppender(definition, this.#surroundings);
    if (appender !== undefined) this.#open.set(definition.name, appender);
  }
}
