import { readFile, stat } from "node:fs/promises";
import path from "node:path";
import { compileNameMappings, type NameMappings, readNameMappingsFile, withMappedNames } from "deneb/ngsi";
import { type Context, codeOf, type Event, type Interceptor, type Logger, type Probe, reasonOf } from "deneb/sdk";
import type { NameMappingsConfig } from "./config.js";

/**
 * The mappings that were read last from each file in this process: an interceptor that a reload makes, while its file cannot be
 * used, goes on with them. Without them its events would go into the tables of other names.
 */
const lastRead = new Map<string, NameMappings>();

/** Writes the mapped names into each event. Reads its file at start and whenever it changes. */
export class NameMappingsInterceptor implements Interceptor {
  readonly #file: string;
  readonly #log: Logger;
  readonly #watch: FileWatch;
  #mappings: NameMappings;

  constructor(config: NameMappingsConfig, context: Context) {
    this.#file = config.name_mappings_conf_file;
    this.#mappings = lastRead.get(path.resolve(this.#file)) ?? nothingMapped;
    this.#log = context.log;
    this.#watch = new FileWatch(this.#file, config.reload_interval, () => this.#load());
  }

  /** The agent works without the file, and with what is right in it. */
  probes(): readonly Probe[] {
    const file = this.#file;
    const remedy = "correct the file, or give another one to name_mappings_conf_file";
    const run: Probe["run"] = async () => {
      try {
        const { faults } = await compiledFile(file);
        if (faults.length === 0) return { outcome: "ok" };
        return { outcome: "warning", reason: `mappings are left out: ${faults.join(", ")}`, remedy };
      } catch (error) {
        return { outcome: "warning", reason: reasonOf(error), remedy };
      }
    };
    return [{ tries: `read the name mappings "${file}"`, run }];
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
      lastRead.set(path.resolve(file), mappings);
      for (const fault of faults) this.#log.error({ file, fault }, "a name mapping is left out");
      this.#log.info({ file }, "name mappings loaded");
    } catch (error) {
      const reason = reasonOf(error);
      const stays = this.#mappings === nothingMapped ? "nothing is mapped" : "the mappings stay as they are";
      if (codeOf(error) === "ENOENT") this.#log.error({ file }, `no name mappings file; ${stays}`);
      else this.#log.error({ file, reason }, `name mappings file not usable; ${stays}`);
    }
  }
}

const nothingMapped: NameMappings = { apply: (names) => names };

async function compiledFile(file: string) {
  const { mappings } = readNameMappingsFile(await readFile(file, "utf8"));
  return compileNameMappings(mappings);
}

/**
 * Calls `load` at start and after each change of a file, one call at a time. It polls the file, because notifications of
 * the system get lost on network folders and when a file is replaced. It looks at the file before each load: what is
 * written during a load is a change that the next look finds.
 */
class FileWatch {
  readonly #file: string;
  readonly #interval: number;
  readonly #load: () => Promise<void>;
  #seen: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;

  constructor(file: string, interval: number, load: () => Promise<void>) {
    this.#file = file;
    this.#interval = interval;
    this.#load = load;
  }

  async start(): Promise<void> {
    await this.#look();
    this.#timer ??= setInterval(() => void this.#look(), this.#interval);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    await this.#looking;
  }

  /** A look that is not done when the next one is due counts for both. */
  async #look(): Promise<void> {
    this.#looking ??= this.#loadIfChanged().finally(() => {
      this.#looking = undefined;
    });
    await this.#looking;
  }

  async #loadIfChanged(): Promise<void> {
    const state = await stateOf(this.#file);
    if (state === this.#seen) return;
    this.#seen = state;
    await this.#load();
  }
}

/** What differs after a change of a file; the error code where it cannot be read. */
async function stateOf(file: string): Promise<string> {
  try {
    const { mtimeNs, ctimeNs, size, ino, dev } = await stat(file, { bigint: true });
    return [mtimeNs, ctimeNs, size, ino, dev].join(" ");
  } catch (error) {
    return codeOf(error) ?? "unknown";
  }
}
