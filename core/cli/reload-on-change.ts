import { readFileSync } from "node:fs";
import type { Reload, ReloadEnd } from "../agent/reload.js";
import { type ConfigurationFault, faultText } from "../configuration/configuration-fault.js";
import type { Configuration } from "../configuration/read-configuration.js";
import { SerialQueue } from "../files/serial-queue.js";
import type { FileState } from "../metrics/agent-instruments.js";
import { codeOf, type Logger, reasonOf } from "../sdk/index.js";

export interface ReloadOnChangeParts {
  readonly file: string;
  /** Reads and validates the file. */
  readonly read: () => Configuration;
  readonly reload: Reload;
  readonly graceMilliseconds: number;
  /** Seconds between checks of the file; 0: no checks. */
  readonly intervalSeconds: number;
  readonly log: Logger;
  /** Called with what the file is, at the start and after each check and reload. */
  readonly found: (state: FileState) => void;
}

/** What a caller learns of a reload. */
export interface ReloadReport {
  readonly end: ReloadEnd | undefined;
  readonly faults: readonly ConfigurationFault[];
}

/** Reloads when the text of the properties file differs from the last one seen, or on request. */
export class ReloadOnChange {
  readonly #parts: ReloadOnChangeParts;
  #lastText: string | undefined;
  /** What became of the text that was seen last. */
  #outcome: FileState = "ok";
  /** Why the file cannot be read; the same reason again is not news. */
  #unreadable: string | undefined;
  #started = false;
  /** A reload was requested before the agent was ready. */
  #requested = false;
  #stopped = false;
  /** Callers wait for it; it has not begun. */
  #waiting: Promise<ReloadReport> | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #reloads = new SerialQueue();

  constructor(parts: ReloadOnChangeParts) {
    this.#parts = parts;
  }

  start(): void {
    const { intervalSeconds } = this.#parts;
    this.#lastText = this.#text();
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

  /** Reads the file again and resolves to what became of it; undefined while the agent starts or stops. */
  async request(): Promise<ReloadReport | undefined> {
    if (!this.#started || this.#stopped) return undefined;
    this.#waiting ??= this.#reloads.run(() => {
      this.#waiting = undefined;
      return this.#reload();
    });
    return await this.#waiting;
  }

  /** Ends the checks and waits for a reload in progress. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    this.#timer = undefined;
    await this.#reloads.idle();
  }

  #check(): void {
    const text = this.#text();
    if (text !== undefined && text !== this.#lastText) this.now();
  }

  /** Undefined for a file that cannot be read now, which is logged once for each reason. */
  #text(): string | undefined {
    const { file, log, found } = this.#parts;
    try {
      const text = readFileSync(file, "utf8");
      if (this.#unreadable !== undefined) log.info({ file }, "the properties file can be read again");
      this.#unreadable = undefined;
      found(this.#outcome);
      return text;
    } catch (error) {
      const reason = reasonOf(error);
      const message = "the properties file cannot be read; the agent keeps its present configuration";
      if (reason !== this.#unreadable) log.error({ file, reason }, message);
      this.#unreadable = reason;
      found(codeOf(error) === "ENOENT" ? "missing" : "unreadable");
      return undefined;
    }
  }

  async #reload(): Promise<ReloadReport> {
    this.#lastText = this.#text();
    const faults: ConfigurationFault[] = [];
    this.#outcome = await this.#reloaded(faults);
    if (this.#unreadable === undefined) this.#parts.found(this.#outcome);
    return { end: this.#parts.reload.last, faults };
  }

  /** Adds the faults of the file to those given. */
  async #reloaded(faults: ConfigurationFault[]): Promise<FileState> {
    const { file, read, reload, graceMilliseconds, log } = this.#parts;
    try {
      const { topology, faults: found } = read();
      faults.push(...found);
      for (const fault of faults) report(log, file, fault);
      if (topology !== undefined) return (await reload.to(topology, graceMilliseconds)) ? "ok" : "not-applied";
      reload.refused();
      log.error({ file }, "configuration has errors; the agent keeps its present configuration");
    } catch (error) {
      reload.refused();
      log.error(
        { file, reason: reasonOf(error) },
        "configuration could not be read; the agent keeps its present configuration",
      );
    }
    return "faulty";
  }
}

function report(log: Logger, file: string, fault: ConfigurationFault): void {
  log[fault.severity === "error" ? "error" : "warn"]({ file, fault: faultText(fault) }, "fault in the configuration");
}
