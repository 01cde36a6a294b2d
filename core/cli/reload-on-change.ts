import { readFileSync } from "node:fs";
import type { Reload } from "../agent/reload.js";
import { type ConfigurationFault, faultText } from "../configuration/configuration-fault.js";
import type { Configuration } from "../configuration/read-configuration.js";
import { SerialQueue } from "../files/serial-queue.js";
import { type Logger, reasonOf } from "../sdk/index.js";

export interface ReloadOnChangeParts {
  readonly file: string;
  /** Reads and validates the file. */
  readonly read: () => Configuration;
  readonly reload: Reload;
  readonly graceMilliseconds: number;
  /** Seconds between checks of the file; 0: no checks. */
  readonly intervalSeconds: number;
  readonly log: Logger;
}

/** Reloads when the text of the properties file differs from the last one seen, or on request. */
export class ReloadOnChange {
  readonly #parts: ReloadOnChangeParts;
  #lastText: string | undefined;
  #started = false;
  /** A reload was requested before the agent was ready. */
  #requested = false;
  #timer: NodeJS.Timeout | undefined;
  readonly #reloads = new SerialQueue();

  constructor(parts: ReloadOnChangeParts) {
    this.#parts = parts;
  }

  start(): void {
    const { intervalSeconds, file } = this.#parts;
    this.#lastText = textOf(file);
    this.#started = true;
    if (this.#requested) this.now();
    if (intervalSeconds > 0) this.#timer ??= setInterval(() => this.#check(), intervalSeconds * 1000);
  }

  /** Reads the file again, changed or not: what it refers to may have changed. */
  now(): void {
    this.#requested = !this.#started;
    if (!this.#started) return;
    void this.#reloads.run(() => this.#reload());
  }

  /** Ends the checks and waits for a reload in progress. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    await this.#reloads.idle();
  }

  #check(): void {
    const text = textOf(this.#parts.file);
    if (text !== undefined && text !== this.#lastText) this.now();
  }

  async #reload(): Promise<void> {
    const { file, read, reload, graceMilliseconds, log } = this.#parts;
    this.#lastText = textOf(file);
    try {
      const { topology, faults } = read();
      for (const fault of faults) report(log, file, fault);
      if (topology === undefined) {
        reload.refused();
        log.error({ file }, "configuration has errors; the agent keeps its present configuration");
      } else await reload.to(topology, graceMilliseconds);
    } catch (error) {
      reload.refused();
      log.error(
        { file, reason: reasonOf(error) },
        "configuration could not be read; the agent keeps its present configuration",
      );
    }
  }
}

function report(log: Logger, file: string, fault: ConfigurationFault): void {
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
