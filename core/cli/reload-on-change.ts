import { readFileSync } from "node:fs";
import type { Reload, ReloadEnd } from "../agent/reload.js";
import type { ConfigurationFault } from "../configuration/configuration-fault.js";
import type { Configuration } from "../configuration/read-configuration.js";
import { refuseNoFileSync } from "../files/regular-file.js";
import { SerialQueue } from "../files/serial-queue.js";
import type { FileState } from "../metrics/agent-instruments.js";
import { codeOf, type Logger, reasonOf } from "../sdk/index.js";
import type { NamedFiles } from "./named-files.js";
import { logFault } from "./start-findings.js";

/** From one attempt to start what is missing to the next, where the file is not checked. */
const COMPLETION_SECONDS = 30;

interface ReloadOnChangeParts {
  readonly file: string;
  /** What the file held when the agent read it for its start, which may take long. */
  readonly startText: string | undefined;
  /** Files that `read` reads besides. */
  readonly files: Pick<NamedFiles, "isChanged">;
  /** Reads and validates the file. */
  readonly read: () => Configuration;
  readonly reload: Pick<Reload, "to" | "complete" | "refused" | "last">;
  readonly graceMilliseconds: number;
  /** Seconds between checks of the file; 0: no checks. */
  readonly intervalSeconds: number;
  readonly log: Logger;
  /** Called with what the file is, at the start and after each check and reload. */
  readonly found: (state: FileState) => void;
}

/** What a caller learns of a reload. */
interface ReloadReport {
  readonly end: ReloadEnd | undefined;
  readonly faults: readonly ConfigurationFault[];
}

/** What a properties file holds, before it is read for a start; undefined for one that cannot be read. */
export function startTextOf(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

/** Reloads when the text of the properties file, or of a file that variables name, differs from the last one seen, or on request. */
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
  readonly #stopping = new AbortController();
  /** Callers wait for it; it has not begun. */
  #waiting: Promise<ReloadReport | undefined> | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #reloads = new SerialQueue();

  constructor(parts: ReloadOnChangeParts) {
    this.#parts = parts;
    this.#lastText = parts.startText;
  }

  start(): void {
    const { intervalSeconds } = this.#parts;
    this.#started = true;
    const isChanged = this.#isChanged();
    if (this.#requested || (isChanged && intervalSeconds > 0)) this.now();
    const look = intervalSeconds > 0 ? () => this.#check() : () => this.#completeSoon();
    this.#timer ??= setInterval(look, (intervalSeconds || COMPLETION_SECONDS) * 1000);
  }

  /** Reads the file again, changed or not: what it refers to may have changed. Does nothing while the agent stops. */
  now(): void {
    this.#requested = !this.#started;
    if (!this.#started || this.#isStopping) return;
    void this.#reloads.run(() => this.#reload());
  }

  /** Reads the file again and resolves to what became of it; undefined while the agent starts or stops. */
  async request(): Promise<ReloadReport | undefined> {
    if (!this.#started || this.#isStopping) return undefined;
    this.#waiting ??= this.#reloads.run(() => {
      this.#waiting = undefined;
      return this.#reload();
    });
    return await this.#waiting;
  }

  /** Ends the checks and waits for a reload in progress, whose grace period is over; those that wait behind it do not begin. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    clearInterval(this.#timer);
    this.#timer = undefined;
    await this.#reloads.idle();
  }

  get #isStopping(): boolean {
    return this.#stopping.signal.aborted;
  }

  #check(): void {
    if (this.#isChanged()) this.now();
    else this.#completeSoon();
  }

  #completeSoon(): void {
    void this.#reloads.run(() => this.#complete());
  }

  async #complete(): Promise<void> {
    const { reload, graceMilliseconds } = this.#parts;
    if (!this.#isStopping) await reload.complete(graceMilliseconds, this.#stopping.signal);
  }

  #isChanged(): boolean {
    const text = this.#text();
    if (text === undefined) return false;
    return this.#parts.files.isChanged() || text !== this.#lastText;
  }

  /** Undefined for a file that cannot be read now, which is logged once for each reason. */
  #text(): string | undefined {
    const { file, log, found } = this.#parts;
    try {
      refuseNoFileSync(file);
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

  async #reload(): Promise<ReloadReport | undefined> {
    if (this.#isStopping) return undefined;
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
      refuseNoFileSync(file);
      const { topology, faults: found } = read();
      faults.push(...found);
      for (const fault of faults) logFault(log, fault, file);
      if (topology !== undefined) {
        const isApplied = await reload.to(topology, graceMilliseconds, this.#stopping.signal);
        return isApplied ? "ok" : "not-applied";
      }
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
