import { randomUUID } from "node:crypto";
import type { Amount } from "../sdk/channel/index.js";
import { type ChannelContext, type SettledEvents, textCodecs } from "../sdk/index.js";
import type { AgentReport, PartReport } from "./agent-report.js";
import { AgentReports, type Clocks } from "./agent-reports.js";
import { ControlReader } from "./control-reader.js";
import { KnownPlaces } from "./known-places.js";
import type { LogUse } from "./log-connection.js";
import { LogLetters } from "./log-letters.js";
import type { PositionOwner } from "./log-position.js";
import type { LogChannelConfig } from "./log-properties.js";
import type { TakenPart } from "./log-take.js";
import { Members } from "./members.js";
import { MissingRecords } from "./missing-records.js";
import { type OwnPart, OwnParts } from "./own-parts.js";
import { PartReader } from "./part-reader.js";
import type { Appended, LogFacts, PartitionedLog } from "./partitioned-log.js";
import { pause } from "./pause.js";
import type { ReadRecord, ReadRecords } from "./read-edge.js";
import { StalledSinks } from "./stalled-sinks.js";
import { Trimmer } from "./trimmer.js";
import { WaitingTurns } from "./waiting-turns.js";

/** Reports are sent this often in a session. */
const BEATS = 3;
const READY_MILLIS = 20;

export interface OpenedLogParts {
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

/** What this agent has appended, and what would be read of it. */
export interface Echo {
  readonly value: Uint8Array;
  record(): ReadRecord;
}

/** What an agent does with a log that is open: it reads its share of the parts, tells the others, and hears of them. */
export class OpenedLog {
  readonly facts: LogFacts;
  /** Names this one among those that share the log. */
  readonly member = randomUUID();
  readonly owner: PositionOwner;
  readonly members: Members;
  readonly own: OwnParts;
  readonly turns: WaitingTurns;
  readonly letters: LogLetters;
  /** What is done already. */
  readonly places: KnownPlaces;
  readonly #parts: OpenedLogParts;
  readonly #reports: AgentReports;
  readonly #control: ControlReader;
  readonly #reader: PartReader;
  readonly #trimmer: Trimmer;
  readonly #stalled: StalledSinks;
  /** By part: the newest record that this agent has appended. */
  readonly #newest = new Map<number, number>();
  #startedAt = 0;
  #unreadable = 0;
  readonly #missing: MissingRecords;
  #untold = 0;
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
    this.letters = new LogLetters({ log, reader: this.#control, largestRecord: facts.largestRecord });
    this.places = new KnownPlaces({
      owner: this.owner,
      members: this.members,
      own: (part) => this.own.all.get(part),
      again: (part, done) => this.own.again(part, done),
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
    this.#stalled = new StalledSinks(config.stall_timeout * 1000);
    this.#missing = new MissingRecords(sessionMillis, context.log);
    this.turns = new WaitingTurns(this.own.all);
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
    this.#reports = new AgentReports({
      log,
      reader: this.#control,
      members: this.members,
      clocks,
      beatMillis: sessionMillis / BEATS,
      sessionMillis,
      report: (left) => this.#report(left),
      heard: () => {
        this.#untold = 0;
        this.#settleSoon();
      },
      outcome: (error) => outcome("report", error),
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

  /** Events that are appended to parts of other agents, until these tell how many wait. */
  appended(events: number): void {
    this.#untold += events;
  }

  /** The offset of the newest record that this agent has appended to the part; -1 for none. */
  newest(part: number): number {
    return this.#newest.get(part) ?? -1;
  }

  /** What waits in the log, as far as it was read or heard of. */
  waiting(): Amount {
    let events = 0;
    let bytes = 0;
    for (const { queue } of this.own.all.values()) {
      events += queue.size;
      bytes += queue.bytes;
    }
    events += this.#untold + this.members.waitingElsewhere(this.#parts.clocks.steady());
    return { events, bytes };
  }

  async start(): Promise<void> {
    this.#startedAt = this.#parts.clocks.steady();
    await this.#reports.start();
    this.#reader.start();
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
    const own = this.own.all.get(part);
    if (own === undefined || own.leaving || this.own.waitsFor(own, read)) return;
    own.queue.add(read, this.places.leftOut(part));
    this.turns.wake();
  }

  /**
   * What this agent has appended: it is not read when nothing is between it and what was read before, and not decoded when it is
   * read behind something else.
   */
  echo(part: number, { offset, previous }: Appended, { value, record }: Echo): void {
    this.#newest.set(part, offset);
    const own = this.own.all.get(part);
    if (own === undefined || offset < own.queue.next) return;
    if (!this.#reader.hasRoom(own)) this.#reader.left(part);
    else if (previous === undefined || !own.queue.follows(previous + 1)) this.#reader.missed(own, value, record);
    else this.add(part, { from: previous + 1, records: [record()] });
  }

  /** Resolves when this agent has its share and has read it, or has something of it; at the latest after a session. */
  async whenReady(signal: AbortSignal): Promise<void> {
    const end = this.#parts.clocks.steady() + this.#parts.config.session_timeout * 1000;
    while (!signal.aborted && !this.#isReady() && this.#parts.clocks.steady() < end) await pause(READY_MILLIS, signal);
  }

  async take(max: number, held: OwnPart | undefined, signal: AbortSignal): Promise<TakenPart | undefined> {
    this.#stalled.asks();
    const taken = await this.turns.take(max, held, signal);
    if (taken !== undefined) this.#stalled.took(taken.own, this.#parts.clocks.steady());
    return taken;
  }

  release({ own, events }: TakenPart, settled: SettledEvents | undefined): void {
    own.queue.release(events, settled);
    this.#stalled.getsOn(own);
    this.#ended(own);
  }

  /** A take has done some of what it holds of the part. */
  getsOn(own: OwnPart): void {
    this.#stalled.getsOn(own);
  }

  /** `ends`: the take holds nothing of the part any more. */
  restore({ own, events }: TakenPart, ends: boolean): void {
    own.queue.restore(events);
    if (own.leaving) own.queue.discardWaiting();
    if (own.leaving || own.queue.size === 0) this.#stalled.getsOn(own);
    if (ends) this.#ended(own);
    else this.turns.wake();
  }

  async stop(signal: AbortSignal): Promise<void> {
    clearInterval(this.#settling);
    this.turns.endAll();
    this.letters.stop();
    await Promise.all([this.#reader.stop(), this.#trimmer.stop()]);
    await this.#reports.stop(signal);
    await this.#control.stop();
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
    const others = this.members.alive(this.#parts.clocks.steady()).length > 1;
    return (parts.length > 0 || others) && parts.every((own) => this.#reader.isAtEnd(own));
  }

  #ended(own: OwnPart): void {
    this.own.ended(own.queue.part);
    this.#reader.drained(own.queue.part);
    this.turns.wake();
  }

  #partsChanged(): void {
    this.#reader.changed();
    this.#reports.beat();
    this.turns.wake();
  }

  #settleSoon(): void {
    this.own.settle().then(
      () => this.#parts.outcome("share"),
      (error: unknown) => this.#parts.outcome("share", error),
    );
  }

  #report(left: boolean): AgentReport {
    const { context, clocks, config } = this.#parts;
    const now = clocks.steady();
    this.#missing.look(this.own.all, now);
    return {
      member: this.member,
      run: context.run,
      agent: [context.run.split(",", 1).join(), context.dataDir, context.name].join(" "),
      group: config.group,
      at: clocks.now().getTime(),
      // Its sinks have a while to begin.
      takes: this.#parts.hasTaken() || now - this.#startedAt < config.stall_timeout * 1000,
      stuck: this.#stalled.look(this.own.all, now) || this.own.isHeldUp(now),
      left,
      parts: this.reported(),
      heard: this.members.groups,
    };
  }
}
