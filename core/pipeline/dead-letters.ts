import { randomUUID } from "node:crypto";
import { readdir } from "node:fs/promises";
import path from "node:path";
import { AgentError, codeOf, type Logger } from "../sdk/index.js";
import type { Clock } from "../tokens.js";
import type { DeadLetter, LetterMark, LetterRecord, OpenLetter } from "./dead-letter.js";
import { DeadLetterFile, type LetterStanding } from "./dead-letter-file.js";
import { type DeadLetterLimits, hasOld, sweep } from "./dead-letter-limits.js";

export type { DeadLetter, DeadLetterReason, LetterState, OpenLetter } from "./dead-letter.js";
export type { DeadLetterLimits } from "./dead-letter-limits.js";

export interface DeadLetterOptions {
  readonly limits: DeadLetterLimits;
  readonly clock: Clock;
  readonly log: Logger;
}

const extension = ".ndjson";
const hourInMilliseconds = 3_600_000;

/**
 * Keeps what cannot be stored: one file of JSON lines for each sink, `<folder>/<sink>.ndjson`, synced before it counts.
 * Without options nothing is ever removed. Only the agent writes; anybody may read at the same time.
 */
export class DeadLetters {
  readonly #folder: string;
  readonly #options: DeadLetterOptions | undefined;
  readonly #run = randomUUID();
  /** The end of the last change of each file: changes of one file come one after another. */
  readonly #changes = new Map<string, Promise<unknown>>();
  #timer: NodeJS.Timeout | undefined;

  constructor(folder: string, options?: DeadLetterOptions) {
    this.#folder = folder;
    this.#options = options;
  }

  /** Mends what a crash tore and removes what is too old, now and every hour. */
  async start(): Promise<void> {
    for (const sink of await this.sinks()) await this.#change(sink, (file) => file.mend());
    await this.#sweepOld();
    this.#timer ??= setInterval(() => void this.#sweepOld(), hourInMilliseconds).unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    await Promise.all(this.#changes.values());
  }

  fileOf(sink: string): string {
    return path.join(this.#folder, `${encodeURIComponent(sink)}${extension}`);
  }

  /** The sinks that have a file, by name. */
  async sinks(): Promise<readonly string[]> {
    const names = await readdir(this.#folder).catch((error: unknown) => {
      if (codeOf(error) === "ENOENT") return [];
      throw error;
    });
    const files = names.filter((name) => name.endsWith(extension));
    return files.map((name) => decodeURIComponent(name.slice(0, -extension.length))).toSorted();
  }

  async keep(letters: readonly DeadLetter[]): Promise<void> {
    const [first] = letters;
    if (first !== undefined) await this.#append(first.sink, letters);
  }

  /** The letters that are neither stored nor dropped, oldest first; of all sinks when none is named. */
  async *open(sink?: string): AsyncGenerator<OpenLetter> {
    for (const name of sink === undefined ? await this.sinks() : [sink]) yield* this.#file(name).open();
  }

  async find(id: string): Promise<OpenLetter | undefined> {
    for await (const letter of this.open()) if (letter.id === id) return letter;
    return undefined;
  }

  async standings(sink: string): Promise<ReadonlyMap<string, LetterStanding>> {
    return await this.#file(sink).standings();
  }

  async mark(sink: string, ids: readonly string[], mark: LetterMark["mark"]): Promise<void> {
    if (ids.length === 0) return;
    const time = (this.#options?.clock.now() ?? new Date()).toISOString();
    await this.#append(
      sink,
      ids.map((id) => ({ id, mark, time, run: this.#run })),
    );
  }

  /** True when this process wrote what a letter stands at. */
  isOwn({ run }: LetterStanding): boolean {
    return run === this.#run;
  }

  async #append(sink: string, records: readonly LetterRecord[]): Promise<void> {
    await this.#change(sink, async (file) => {
      try {
        const size = await file.append(records);
        const most = this.#options?.limits.bytes ?? 0;
        if (most > 0 && size > most) await this.#sweep(sink, file);
      } catch (cause) {
        throw new AgentError("DEAD_LETTERS_UNWRITABLE", `writing dead letters to "${file.path}"`, {
          cause,
          retryable: true,
        });
      }
    });
  }

  async #sweepOld(): Promise<void> {
    if (this.#options === undefined || this.#options.limits.days === 0) return;
    const { limits, clock, log } = this.#options;
    for (const sink of await this.sinks()) {
      try {
        await this.#change(sink, async (file) => {
          if (await hasOld(file, limits, clock.now())) await this.#sweep(sink, file);
        });
      } catch (error) {
        log.error({ sink, code: codeOf(error) }, "old dead letters could not be removed");
      }
    }
  }

  async #sweep(sink: string, file: DeadLetterFile): Promise<void> {
    if (this.#options === undefined) return;
    const { limits, clock, log } = this.#options;
    const lost = await sweep(file, limits, clock.now());
    if (lost > 0) log.error({ sink, letters: lost, ...limits }, "dead letters removed: they were too old or too many");
  }

  #file(sink: string): DeadLetterFile {
    return new DeadLetterFile(this.fileOf(sink));
  }

  async #change(sink: string, work: (file: DeadLetterFile) => Promise<void>): Promise<void> {
    const before = this.#changes.get(sink) ?? Promise.resolve();
    const change = before.then(() => work(this.#file(sink)));
    this.#changes.set(
      sink,
      change.catch(() => undefined),
    );
    await change;
  }
}
