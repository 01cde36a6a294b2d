import { readFileSync } from "node:fs";
import type { Reload } from "../agent/reload.js";
import type { ConfigurationFault } from "../configuration/configuration-fault.js";
import { faultText } from "../configuration/configuration-fault.js";
import type { Configuration } from "../configuration/read-configuration.js";
import { type Logger, reasonOf } from "../sdk/index.js";

export interface ReloadOnChangeParts {
  readonly file: string;
  /** Reads and judges the file. */
  readonly read: () => Configuration;
  readonly reload: Reload;
  readonly graceMilliseconds: number;
  /** Seconds between two looks at the file; 0 never looks. */
  readonly intervalSeconds: number;
  readonly log: Logger;
}

/** Reloads when the text of the properties file differs from the last one seen, or when somebody asks for it. */
export class ReloadOnChange {
  readonly #parts: ReloadOnChangeParts;
  #seen: string | undefined;
  #started = false;
  /** Somebody asked before the agent was ready. */
  #asked = false;
  #timer: NodeJS.Timeout | undefined;
  #turn: Promise<void> = Promise.resolve();

  constructor(parts: ReloadOnChangeParts) {
    this.#parts = parts;
  }

  start(): void {
    const { intervalSeconds, file } = this.#parts;
    this.#seen = textOf(file);
    this.#started = true;
    if (this.#asked) this.now();
    if (intervalSeconds > 0) this.#timer ??= setInterval(() => this.#look(), intervalSeconds * 1000);
  }

  /** Reads the file again, changed or not: what it refers to may have changed. */
  now(): void {
    this.#asked = !this.#started;
    if (!this.#started) return;
    this.#turn = this.#turn.then(() => this.#reload());
  }

  /** Ends the looking; a reload that is underway is waited for. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    await this.#turn;
  }

  #look(): void {
    const text = textOf(this.#parts.file);
    if (text !== undefined && text !== this.#seen) this.now();
  }

  async #reload(): Promise<void> {
    const { file, read, reload, graceMilliseconds, log } = this.#parts;
    this.#seen = textOf(file);
    try {
      const { topology, faults } = read();
      for (const fault of faults) tell(log, file, fault);
      if (topology === undefined) log.error({ file }, "configuration has errors; the agent goes on as it is");
      else await reload.to(topology, graceMilliseconds);
    } catch (error) {
      log.error({ file, reason: reasonOf(error) }, "configuration could not be read; the agent goes on as it is");
    }
  }
}

function tell(log: Logger, file: string, fault: ConfigurationFault): void {
  log[fault.severity === "error" ? "error" : "warn"]({ file, fault: faultText(fault) }, "fault in the configuration");
}

/** Undefined for a file that cannot be read now: an editor may be replacing it. */
function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
