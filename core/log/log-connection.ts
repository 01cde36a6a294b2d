import { type Amount, channelStopped } from "../sdk/channel/index.js";
import { AgentError, type ChannelContext, onAbort, pause, reasonOf, retryableOf } from "../sdk/index.js";
import type { Clocks } from "./agent-reports.js";
import { LogHealth } from "./log-health.js";
import type { LogChannelConfig } from "./log-properties.js";
import type { TakenPart } from "./log-take.js";
import { OpenedLog } from "./opened-log.js";
import type { OwnPart } from "./own-parts.js";
import type { PartitionedLog } from "./partitioned-log.js";

const PAUSE_MILLIS = 1000;
/** For so long a stop tells the others that this agent leaves; without that they see it after a session. */
const FAREWELL_MILLIS = 3000;
/** The longest time of a timer. */
const LONGEST_MILLIS = 2_147_483_647;

interface LogConnectionParts {
  readonly log: PartitionedLog;
  readonly config: LogChannelConfig;
  readonly context: ChannelContext;
  readonly clocks: Clocks;
}

/** Opens the log, again and again while it cannot be reached. */
export class LogConnection {
  readonly health: LogHealth;
  readonly #parts: LogConnectionParts;
  readonly #stopping = new AbortController();
  #opened: OpenedLog | undefined;
  #opening: Promise<void> | undefined;
  /** Ends what waits until the log is open. */
  readonly #whenOpen = new Set<() => void>();
  #takes = false;
  readonly #told = new AbortController();
  #telling: Promise<void> | undefined;
  /** Calls that came before the log was open; each try to open it hears them all. */
  #early: ((opened: OpenedLog) => unknown)[] = [];
  /** What is being opened. */
  #beginning: OpenedLog | undefined;

  constructor(parts: LogConnectionParts) {
    this.#parts = parts;
    const { config, context, clocks } = parts;
    const sessionMillis = config.session_timeout * 1000;
    if (context.hasSinks !== true) this.told();
    this.health = new LogHealth({ context, clocks, sessionMillis, stopping: this.#stopping.signal });
  }

  get opened(): OpenedLog | undefined {
    return this.#opened;
  }

  get lost(): number {
    return this.#opened?.lost ?? 0;
  }

  /** Rejects for a log that will not be had without a change, and when it is stopped meanwhile; else it goes on trying. */
  async start(): Promise<void> {
    try {
      await this.#open();
    } catch (error) {
      // Whoever has stopped the channel closed a log that was not open.
      if (this.#stopping.signal.aborted) await this.#parts.log.close(this.#stopping.signal);
      if (retryableOf(error) === false || this.#stopping.signal.aborted) throw error;
      this.health.outcome("open", error);
      this.#opening = this.#openLater();
    }
  }

  waiting(): Amount {
    return this.#opened?.waiting() ?? { events: 0, bytes: 0 };
  }

  /** Resolves when the log is open; rejects when it is not in time. */
  async whenOpen(millis: number): Promise<OpenedLog> {
    if (this.#opened !== undefined) return this.#opened;
    if (this.#stopping.signal.aborted) throw channelStopped(this.#parts.context.name);
    await this.#untilOpen(millis);
    if (this.#opened !== undefined) return this.#opened;
    const cause = this.health.errorOf("open");
    const reason = cause === undefined ? "it is being opened" : reasonOf(cause);
    const message = `putting into channel "${this.#parts.context.name}": its log cannot be used: ${reason}`;
    throw new AgentError("LOG_UNAVAILABLE", message, { retryable: true, cause });
  }

  /**
   * False until sinks have told what is stored, or a put has waited for that: before, an agent cannot know that a log lacks records, as
   * one that was restored, and that what it puts would count as stored.
   */
  get isTold(): boolean {
    return this.#told.signal.aborted;
  }

  /** Resolves when that is so; `millis` milliseconds after the first call at the latest. */
  whenTold(millis: number): Promise<void> {
    this.#telling ??= pause(millis, this.#told.signal).then(() => this.told());
    return this.#telling;
  }

  /** Sinks have told what is stored, or nothing that is put waits for that any more. */
  told(): void {
    this.#told.abort();
  }

  async take(max: number, held: OwnPart | undefined, signal: AbortSignal): Promise<TakenPart | undefined> {
    if (!this.#takes) {
      this.#takes = true;
      this.told();
      this.#opened?.beat();
    }
    if (this.#opened === undefined && !this.#stopping.signal.aborted) await this.#untilOpen(LONGEST_MILLIS, signal);
    return await this.#opened?.takes.take(max, held, signal);
  }

  /** The number of events that are left out, as far as that is known now. */
  skipTo(position: string): number {
    return this.#inform((opened) => opened.places.skipTo(position)) ?? 0;
  }

  /** Whether an event with a dead letter is left out. */
  leaveOut(id: string): boolean {
    return this.#inform((opened) => opened.places.leaveOut(id)) ?? false;
  }

  async stop(signal: AbortSignal): Promise<void> {
    this.#stopping.abort();
    this.told();
    this.#wake();
    await this.#leave(signal);
    this.#opened = undefined;
    await this.#parts.log.close(signal);
  }

  /** Nothing that is put or stored is on its way any more: an engine that does not answer is not waited for. */
  async #leave(signal: AbortSignal): Promise<void> {
    const leaving = new AbortController();
    const end = () => {
      leaving.abort();
      void this.#parts.log.close(signal);
    };
    const timer = setTimeout(end, FAREWELL_MILLIS);
    const stopListening = onAbort(signal, end);
    await this.#opening;
    await this.#opened?.stop(leaving.signal);
    stopListening();
    clearTimeout(timer);
  }

  #inform<T>(tell: (opened: OpenedLog) => T): T | undefined {
    if (this.#opened !== undefined) return tell(this.#opened);
    this.#early.push(tell);
    return this.#beginning === undefined ? undefined : tell(this.#beginning);
  }

  /** Resolves when the log is open or the channel stops, after this time, or when the signal aborts. */
  async #untilOpen(millis: number, signal?: AbortSignal): Promise<void> {
    const waiting = new AbortController();
    const end = () => waiting.abort();
    const stopListening = signal === undefined ? undefined : onAbort(signal, end);
    this.#whenOpen.add(end);
    await pause(millis, waiting.signal);
    this.#whenOpen.delete(end);
    stopListening?.();
  }

  async #openLater(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted && this.#opened === undefined) {
      await pause(PAUSE_MILLIS, signal);
      if (signal.aborted) return;
      try {
        await this.#open();
      } catch (error) {
        this.health.outcome("open", error);
      }
    }
  }

  async #open(): Promise<void> {
    const { log, config, context, clocks } = this.#parts;
    const facts = await log.open(this.#stopping.signal);
    for (const warning of facts.warnings) context.log.warn({ log: facts.id }, warning);
    const opened = new OpenedLog({
      log,
      facts,
      config,
      context,
      clocks,
      hasTaken: () => this.#takes,
      outcome: (use, error) => this.health.outcome(use, error),
    });
    for (const tell of this.#early) tell(opened);
    this.#beginning = opened;
    await opened.start();
    // Whoever has stopped the channel does not know of it.
    if (this.#stopping.signal.aborted) {
      await opened.stop(this.#stopping.signal);
      throw channelStopped(context.name);
    }
    this.#opened = opened;
    this.#beginning = undefined;
    this.#early = [];
    this.health.outcome("open");
    await opened.whenReady(this.#stopping.signal);
    context.log.info({ log: facts.id, partitions: facts.partitions, group: config.group }, "log is open");
    this.#wake();
  }

  #wake(): void {
    for (const end of this.#whenOpen) end();
  }
}
