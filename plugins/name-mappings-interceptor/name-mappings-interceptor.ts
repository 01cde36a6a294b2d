import { readFile } from "node:fs/promises";
import { compileNameMappings, type NameMappings, readNameMappingsFile, withMappedNames } from "deneb/ngsi";
import { type Context, codeOf, type Event, type Interceptor, type Logger, reasonOf } from "deneb/sdk";
import type { NameMappingsConfig } from "./config.js";
import { FileWatch } from "./file-watch.js";

/** Writes the mapped names into each event. Reads its file at start and whenever it changes. */
export class NameMappingsInterceptor implements Interceptor {
  readonly #file: string;
  readonly #log: Logger;
  readonly #watch: FileWatch;
  #mappings: NameMappings = nothingMapped;

  constructor(config: NameMappingsConfig, context: Context) {
    this.#file = config.name_mappings_conf_file;
    this.#log = context.log;
    this.#watch = new FileWatch(this.#file, config.reload_interval, () => this.#load());
  }

  async start(): Promise<void> {
    await this.#watch.start();
  }

  intercept(event: Event): Event {
    return withMappedNames(event, this.#mappings);
  }

  async stop(): Promise<void> {
    await this.#watch.stop();
  }

  /** A file that cannot be used changes nothing: the former mappings stay in use. */
  async #load(): Promise<void> {
    const file = this.#file;
    try {
      const { mappings, faults } = await compiledFile(file);
      this.#mappings = mappings;
      for (const fault of faults) this.#log.error({ file, fault }, "a name mapping is left out");
      this.#log.info({ file }, "name mappings loaded");
    } catch (error) {
      const reason = reasonOf(error);
      if (codeOf(error) === "ENOENT") this.#log.warn({ file }, "no name mappings file; the mappings stay as they are");
      else this.#log.error({ file, reason }, "name mappings file not usable; the mappings stay as they are");
    }
  }
}

const nothingMapped: NameMappings = { apply: (names) => names };

async function compiledFile(file: string) {
  const { mappings } = readNameMappingsFile(await readFile(file, "utf8"));
  return compileNameMappings(mappings);
}
