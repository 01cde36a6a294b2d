import { randomUUID } from "node:crypto";
import type { Amount } from "../sdk/channel/index.js";
import { type ChannelContext, pause, textCodecs } from "../sdk/index.js";
import type { AgentReport, PartReport } from "./agent-report.js";
import { AgentReports, type Clocks } from "./agent-reports.js";
import { ControlReader } from "./control-reader.js";
import { KnownPlaces } from "./known-places.js";
import type { LogUse } from "./log-health.js";
import { LogLetters } from "./log-letters.js";
import type { PositionOwner } from "./log-position.js";
import type { LogChannelConfig } from "./log-properties.js";
import { Members } from "./members.js";
import { MissingRecords } from "./missing-records.js";
import { OwnAppends } from "./own-appends.js";
import { OwnParts } from "./own-parts.js";
import { PartReader } from "./part-reader.js";
import type { LogFacts, PartitionedLog } from "./partitioned-log.js";
import type { ReadRecords } from "./read-edge.js";
import { SinkTakes } from "./sink-takes.js";
import { Trimmer } from "./trimmer.js";
import { WatchedSettings } from "./watched-settings.js";

/** Reports are sent this often in a session. */
const BEATS = 3;
/** From one look at the settings of the log to the next. */
const SESSIONS_OF_SETTINGS = 3;
const READY_MILLIS = 20;

interface OpenedLogParts {
  readonly log: PartitionedLog;
  readonly facts: LogFacts;
  readonly config: LogChannelConfig;
  readonly context: ChannelContext;
  readonly clocks: Clocks;
  /** True once a sink has taken. */
  hasTaken(): boolean;
  /** How what was asked of the log has ended. */
  outcome(use: LogUse, error?: unknown): void;
}

/** What an agent does with a log that is open: it reads its share of the parts, tells the others, and hears of them. */
export class OpenedLog {
  readonly facts: LogFacts;
  /** Names this one among those that share the log. */
  readonly member = randomUUID();
  readonly owner: PositionOwner;
  readonly members: Members;
  readonly own: OwnParts;
  readonly takes: SinkTakes;
  readonly appends: OwnAppends;
  readonly letters: LogLetters;
  readonly settings: WatchedSettings;
  /** What is done already. */
  readonly places: KnownPlaces;
  readonly #parts: OpenedLogParts;
  readonly #reports: AgentReports;
  readonly #control: ControlReader;
  readonly #reader: PartReader;
  readonly #trimmer: Trimmer;
  #startedAt = 0;
  #unreadable = 0;
  readonly #missing: MissingRecords;
  #settling: NodeJS.Timeout | undefined;

  constructor(parts: OpenedLogParts) {
    const { log, facts, config, context, clocks, outcome } = parts;
    const sessionMillis = config.session_timeout * 1000;
    this.#parts = parts;
    this.facts = facts;
    this.owner = { log: facts.id, group: config.group };
    this.members = new Members({
      member: this.member,
      group: config.group,
      sessionMillis,
      retired: config.retired_groups,
    });
    this.#control = new ControlReader({ log, outcome: (error) => outcome("hear", error) });
    this.settings = new WatchedSettings({
      log,
      facts,
      everyMillis: sessionMillis * SESSIONS_OF_SETTINGS,
      outcome: (error) => outcome("settings", error),
      logger: context.log,
    });
    const largestRecord = () => this.settings.largestRecord;
    const steady = () => clocks.steady();
    this.letters = new LogLetters({ log, reader: this.#control, largestRecord, steady, sessionMillis });
    this.places = new KnownPlaces({
      owner: this.owner,
      members: this.members,
      reached: context.reached?.(facts.id),
      hasTaken: () => parts.hasTaken(),
      own: (part) => this.own.all.get(part),
      beginAgain: (part, done) => this.own.beginAgain(part, done),
    });
    this.own = new OwnParts({
      log,
      partitions: facts.partitions,
      gapless: facts.gapless === true,
      members: this.members,
      clocks,
      sessionMillis,
      stallMillis: config.stall_timeout * 1000,
      hasTaken: () => parts.hasTaken(),
      isHeard: () => this.#reports.isHeard,
      stored: (part) => this.places.stored(part),
      prepared: () => this.letters.caughtUp(),
      resettle: () => this.#settleSoon(),
      changed: () => this.#partsChanged(),
      logger: context.log,
    });
    this.#missing = new MissingRecords(sessionMillis, context.log, this.places);
    this.takes = new SinkTakes({
      own: this.own.all,
      steady: () => clocks.steady(),
      stallMillis: config.stall_timeout * 1000,
      ended: ({ queue: { part } }) => {
        this.own.ended(part);
        this.#reader.drained(part);
      },
    });
    this.#reader = new PartReader({
      log,
      own: this.own.all,
      prefetchBytes: config.prefetch_bytes,
      add: (part, read) => this.add(part, read),
      codecs: textCodecs(context.textCodecs),
      isAlone: () => this.members.isAlone(clocks.steady()),
      unreadable: () => {
        this.#unreadable += 1;
      },
      outcome: (error) => outcome("read", error),
      logger: context.log,
    });
    this.appends = new OwnAppends({
      own: this.own.all,
      reader: this.#reader,
      add: (part, read) => this.add(part, read),
      appended: (part, offset) => this.places.appended(part, offset),
    });
    this.#reports = new AgentReports({
      log,
      id: facts.id,
      reader: this.#control,
      members: this.members,
      clocks,
      beatMillis: sessionMillis / BEATS,
      sessionMillis,
      report: (left) => this.#report(left),
      heard: () => {
        this.appends.told();
        this.#settleSoon();
      },
      outcome: (error) => outcome("report", error),
      logger: context.log,
    });
    this.#trimmer = new Trimmer({
      log,
      group: config.group,
      members: this.members,
      own: this.own.all,
      outcome: (error) => outcome("trim", error),
    });
  }

  /** Events that this agent has found to be missing in the log; of a record that cannot be read, one. */
  get lost(): number {
    return this.#missing.lost + this.#unreadable;
  }

  /** The parts of which more may be missing. */
  get uncounted(): readonly number[] {
    return this.#missing.uncounted;
  }

  /** What waits in the log, as far as it was read or heard of. */
  waiting(): Amount {
    let events = 0;
    let bytes = 0;
    for (const { queue } of this.own.all.values()) {
      events += queue.size;
      bytes += queue.bytes;
    }
    events += this.appends.untold + this.members.waitingElsewhere(this.#parts.clocks.steady());
    return { events, bytes };
  }

  async start(): Promise<void> {
    this.#startedAt = this.#parts.clocks.steady();
    await this.#reports.start();
    this.#reader.start();
    this.settings.start();
    if (this.#parts.config.trim) this.#trimmer.start();
    // Time passes without reports, too.
    this.#settling = setInterval(() => this.#settleSoon(), (this.#parts.config.session_timeout * 1000) / (2 * BEATS));
  }

  /** Tells the others at once how it stands. */
  beat(): void {
    this.#reports.beat();
  }

  /** Records that were read, or that this agent has just appended. */
  add(part: number, read: ReadRecords): void {
    const newest = read.records.at(-1);
    if (newest !== undefined) this.places.see(part, newest.offset);
    const own = this.own.all.get(part);
    if (own === undefined || own.leaving || this.own.waitsFor(own, read)) return;
    own.queue.add(read, this.places.knownOf(part));
    this.takes.wake();
  }

  /** Resolves when this agent has its share and has read it, or has something of it; at the latest after a session. */
  async whenReady(signal: AbortSignal): Promise<void> {
    const end = this.#parts.clocks.steady() + this.#parts.config.session_timeout * 1000;
    while (!signal.aborted && !this.#isReady() && this.#parts.clocks.steady() < end) await pause(READY_MILLIS, signal);
  }

  async stop(signal: AbortSignal): Promise<void> {
    clearInterval(this.#settling);
    this.takes.endAll();
    this.letters.stop();
    await Promise.all([this.#reader.stop(), this.#trimmer.stop(), this.settings.stop()]);
    await this.#reports.stop(signal);
    await this.#control.stop();
  }

  /** True while the other agents must have heard of this one a short while ago. */
  get isHeard(): boolean {
    return this.#reports.isHeard;
  }

  /** What this agent reports of its parts. */
  reported(): ReadonlyMap<number, PartReport> {
    const parts = [...this.own.all].map(([part, own]) => {
      const { done, size, oldest, next } = own.queue;
      return [part, { done, waiting: size, more: !this.#reader.isAtEnd(own), oldest, next }] as const;
    });
    return new Map(parts);
  }

  #isReady(): boolean {
    const parts = [...this.own.all.values()];
    if (parts.some(({ queue }) => queue.waiting > 0)) return true;
    const hasOthers = this.members.alive(this.#parts.clocks.steady()).length > 1;
    return (parts.length > 0 || hasOthers) && parts.every((own) => this.#reader.isAtEnd(own));
  }

  #partsChanged(): void {
    this.#reader.changed();
    this.#reports.beat();
    this.takes.wake();
  }

  #settleSoon(): void {
    this.own.settle().then(
      () => this.#parts.outcome("share"),
      (error: unknown) => this.#parts.outcome("share", error),
    );
  }

  #report(left: boolean): AgentReport {
    const { context, clocks, config, facts } = this.#parts;
    const now = clocks.steady();
    this.#missing.look(this.own.all, now);
    return {
      member: this.member,
      run: context.run,
      agent: [context.run.split(",", 1).join(), context.dataDir, context.name].join(" "),
      group: config.group,
      log: facts.id,
      at: clocks.now().getTime(),
      // Its sinks have a while to begin.
      takes: this.#parts.hasTaken() || now - this.#startedAt < config.stall_timeout * 1000,
      stuck: this.takes.areStalled() || this.own.isHeldUp(now),
      left,
      parts: this.reported(),
      heard: this.members.groups,
    };
  }
}
