import { type StatsListener, unwatchFile, watchFile } from "node:fs";

/**
 * Calls `load` at start and after each change of a file, one call at a time. It polls the file, because notifications of
 * the system get lost on network folders and when a file is replaced.
 */
export class FileWatch {
  readonly #file: string;
  readonly #interval: number;
  readonly #load: () => Promise<void>;
  #loading: Promise<void> = Promise.resolve();

  constructor(file: string, interval: number, load: () => Promise<void>) {
    this.#file = file;
    this.#interval = interval;
    this.#load = load;
  }

  async start(): Promise<void> {
    watchFile(this.#file, { interval: this.#interval }, this.#changed);
    await this.#next();
  }

  async stop(): Promise<void> {
    unwatchFile(this.#file, this.#changed);
    await this.#loading;
  }

  // For a file that does not exist the watch calls once although nothing changed.
  readonly #changed: StatsListener = (now, before) => {
    if (now.mtimeMs !== 0 || before.mtimeMs !== 0) void this.#next();
  };

  #next(): Promise<void> {
    this.#loading = this.#loading.then(this.#load);
    return this.#loading;
  }
}
