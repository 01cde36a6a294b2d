import { codeOf, type Logger, pause } from "../sdk/index.js";
import type { AgentReport } from "./agent-report.js";
import { reportOf, reportText } from "./agent-report.js";
import type { ControlReader } from "./control-reader.js";
import type { Members } from "./members.js";
import type { LogRecord, PartitionedLog } from "./partitioned-log.js";

/** Clocks of a process. */
export interface Clocks {
  now(): Date;
  /** Milliseconds that only grow. */
  steady(): number;
}

interface AgentReportsParts {
  readonly log: Pick<PartitionedLog, "append" | "bounds" | "trim">;
  /** Names the log, and not one that is made again under its name. */
  readonly id: string;
  readonly reader: Pick<ControlReader, "listen">;
  readonly members: Members;
  readonly clocks: Clocks;
  /** Milliseconds between two reports. */
  readonly beatMillis: number;
  readonly sessionMillis: number;
  /** What this agent reports now. */
  report(left: boolean): AgentReport;
  /** Called after reports were read. */
  heard(): void;
  /** What an append rejected with, and undefined when one did not. */
  outcome(error?: unknown): void;
  readonly logger: Logger;
}

/** Reports of older sessions are removed. */
const SESSIONS_KEPT = 10;

/** Tells the others of this agent, every few seconds and when something changes, and hears of them. */
export class AgentReports {
  readonly #parts: AgentReportsParts;
  readonly #stopping = new AbortController();
  #beating = new AbortController();
  #running: Promise<void> | undefined;
  /** When the reports were sent that are not read back yet, by their number. */
  readonly #sent = new Map<number, number>();
  #seenAt: number | undefined;
  readonly #read: { readonly at: number; readonly offset: number }[] = [];
  #atStart: number | undefined;
  #hasTold = false;

  constructor(parts: AgentReportsParts) {
    this.#parts = parts;
  }

  /** True while the others must have heard of this agent a short while ago. */
  get isHeard(): boolean {
    const { clocks, sessionMillis } = this.#parts;
    return this.#seenAt !== undefined && clocks.steady() - this.#seenAt < sessionMillis;
  }

  async start(): Promise<void> {
    const bounds = (await this.#parts.log.bounds(["agents"])).get("agents");
    this.#atStart = bounds?.next ?? 0;
    this.#parts.reader.listen("agents", bounds?.first ?? 0, {
      next: (records) => {
        for (const record of records) this.#hear(record);
        this.#parts.heard();
      },
    });
    this.#running = this.#run();
  }

  /** Reports now instead of at the next beat. */
  beat(): void {
    this.#beating.abort();
  }

  /** The others hear that this agent leaves, unless the signal has aborted. */
  async stop(signal: AbortSignal): Promise<void> {
    this.#stopping.abort();
    this.#beating.abort();
    await this.#running;
    if (this.#seenAt !== undefined && !signal.aborted) await this.#append(true);
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      this.#beating = new AbortController();
      await this.#append(false);
      if (this.#stopping.signal.aborted) return;
      await pause(this.#parts.beatMillis, this.#beating.signal);
    }
  }

  async #append(left: boolean): Promise<void> {
    const { log, report, clocks, outcome } = this.#parts;
    const at = clocks.steady();
    try {
      const { offset } = await log.append("agents", Buffer.from(reportText(report(left))));
      if (this.#read.some((read) => read.offset >= offset)) this.#seenAt = at;
      else this.#sent.set(offset, at);
      await this.#trim(at);
      outcome();
    } catch (error) {
      if (codeOf(error) === "LOG_FULL") await this.#makeRoom();
      outcome(error);
    }
  }

  /**
   * Of what cannot tell how far it is, nothing is removed: a full log would stay full. What was told before the newest report goes, once
   * all that was there at the start was heard, so that the next report of this agent says which groups there are.
   */
  async #makeRoom(): Promise<void> {
    const newest = this.#read.at(-1);
    if (newest === undefined || newest.offset < (this.#atStart ?? 0) - 1) return;
    this.#read.splice(0, this.#read.length - 1);
    // The next report says that it failed.
    await this.#parts.log.trim(new Map([["agents", newest.offset]])).catch(() => undefined);
  }

  #hear({ offset, value }: LogRecord): void {
    const { id, members, clocks } = this.#parts;
    const report = reportOf(Buffer.from(value).toString());
    const now = clocks.steady();
    this.#read.push({ at: now, offset });
    const sent = this.#sent.get(offset);
    if (sent !== undefined) this.#seenAt = sent;
    for (const one of this.#sent.keys()) if (one <= offset) this.#sent.delete(one);
    if (report === undefined) return;
    if (report.log === undefined) this.#tellUnnamed(offset);
    // Events may be kept in a topic that is made again, and reports in one that stays: what was done before is not done there.
    if (report.log !== id) return;
    // What was there at the start is as old as the clocks say.
    const isOld = offset < (this.#atStart ?? 0);
    members.hear(report, now, isOld ? clocks.now().getTime() - report.at : 0);
  }

  /** It may be of any log, and what it says is done would hold up partitions that are not as long. */
  #tellUnnamed(offset: number): void {
    if (this.#hasTold) return;
    this.#hasTold = true;
    this.#parts.logger.warn(
      { offset },
      "a report in the log does not say of which log it is, and is left out: an agent of an older commit, or somebody else, wrote it. " +
        "Run one version on all agents, and let nobody else write to the log",
    );
  }

  async #trim(now: number): Promise<void> {
    const { log, members, sessionMillis } = this.#parts;
    const old = this.#read.findIndex(({ at }) => now - at < SESSIONS_KEPT * sessionMillis);
    if (old < SESSIONS_KEPT) return;
    const before = this.#read[old]?.offset ?? 0;
    this.#read.splice(0, old);
    members.forgetGone(now);
    await log.trim(new Map([["agents", before]]));
  }
}
