import { causesOf } from "../../sdk/causes.js";
import { mayBeStored } from "../../sdk/errors.js";
import {
  AgentError,
  codeOf,
  type Event,
  type Lifecycle,
  type Logger,
  type Receipt,
  reasonOf,
  retryableOf,
  type Sink,
  type SinkTuning,
  type StoreAnswer,
  type StoredSummary,
} from "../../sdk/index.js";
import type { Clock } from "../../tokens.js";
import { FailureState } from "../failure-state.js";
import { withinLimit } from "../supervision.js";
import { isPositionFault } from "./kinds-of-failure.js";
import { NamedFailure } from "./named-failure.js";
import { asError, SinkStage } from "./sink-stage.js";
import type { Course, Stage, StoreQuestions } from "./stage.js";
import type { TakenBatch } from "./taken-batch.js";

/** After this number of successive errors of unknown meaning the sink counts as broken. */
const mostUnknownErrors = 3;

/** Codes of calls that may go on although nothing waits for them. */
const ENDED: ReadonlySet<string | undefined> = new Set(["TIMED_OUT", "STRAY_ERROR"]);

interface Call {
  readonly began: Date;
  /** Ends the wait for it with this error. */
  abandon: (error: unknown) => void;
}

/** Codes of calls that nothing answered. */
const UNANSWERED: ReadonlySet<string | undefined> = new Set(["NOT_ENDED", "STRAY_ERROR"]);

interface SupervisedSinkParts {
  readonly name: string;
  /** Makes the sink, and another one whenever it has to be replaced. No I/O. */
  readonly create: () => Sink;
  /** Whether its plugin is one of others; false when absent. */
  readonly isOfOthers?: boolean;
  /** Seconds one write, or one question, may take; 0 is no limit. */
  readonly persistTimeout: number;
  /** Seconds one start may take, 0 is no limit; as long as a write when absent. */
  readonly startTimeout?: number;
  readonly log: Logger;
  readonly clock: Clock;
  /** Told when the sink is stopped because it hangs or fails again and again, and when a new one runs. */
  readonly tell?: (status: "ERROR" | "START") => void;
}

/**
 * A sink that never dies for good: a write that hangs is abandoned at its limit, the sink is stopped, and the next try
 * starts a new one. Whatever it throws arrives as an error.
 */
export class SupervisedSink implements Stage, StoreQuestions, Lifecycle {
  readonly name = "supervise";
  readonly health: FailureState;
  /** Where the sink counts what it stores; one that takes its place has the same. */
  readonly positionsPlace: string | undefined;
  readonly #parts: SupervisedSinkParts;
  /** Undefined while there is none that works. */
  #sink: SinkStage | undefined;
  #unknownErrors = 0;
  /** The calls that are running, the first one first: a list, because a Map would keep them with their batches (decision 0086). */
  readonly #calls: Call[] = [];

  constructor(parts: SupervisedSinkParts) {
    this.#parts = parts;
    this.health = new FailureState(parts.clock);
    const plugin = parts.create();
    this.#sink = new SinkStage(plugin, parts.isOfOthers);
    this.positionsPlace = plugin.positions?.place;
  }

  /** The sink itself; absent while there is none that works. */
  get next(): Stage | undefined {
    return this.#sink;
  }

  get largestBatch(): number | undefined {
    return this.#sink?.plugin.tuning?.largestBatch;
  }

  get batchLinger(): SinkTuning["batchLinger"] {
    return this.#sink?.plugin.tuning?.batchLinger;
  }

  /** When the call of the sink that is running began; undefined when none is. */
  get busySince(): Date | undefined {
    return this.#calls[0]?.began;
  }

  /** A sink that is being replaced may keep positions. */
  get keepsPositions(): boolean {
    return this.#sink?.keepsPositions ?? true;
  }

  /** Throws code `TIMED_OUT` when the sink hangs; then it is stopped, and the next write starts a new one. */
  async start(): Promise<void> {
    const sink = this.#sink;
    if (sink === undefined) return;
    try {
      await this.#starting("starting", new AbortController().signal, sink);
    } catch (error) {
      if (codeOf(error) === "TIMED_OUT") {
        this.health.failed(error);
        await this.#discard(error);
      }
      throw error;
    }
  }

  async deliver(batch: TakenBatch, course: Course): Promise<Receipt> {
    const { signal } = course;
    let sink: SinkStage | undefined;
    try {
      const own = this.#sink ?? (await this.#restarted(signal));
      sink = own;
      const receipt = await this.#limited("a write", signal, (until) =>
        own.deliver(batch, { ...course, signal: until }),
      );
      this.#unknownErrors = 0;
      this.health.works();
      return receipt;
    } catch (thrown) {
      const error = asError(thrown);
      if (sink?.tells === true && isInDoubt(error)) batch.doubt();
      if (!signal.aborted) await this.#judge(error);
      throw error;
    }
  }

  async storedPositions(signal: AbortSignal): Promise<readonly string[]> {
    const { plugin } = this.#sink ?? (await this.#restarted(signal));
    const read = plugin.positions?.stored?.bind(plugin.positions);
    return read === undefined ? [] : await this.#limited("reading the positions", signal, read);
  }

  /** Undefined for a sink that does not count. */
  async storedSummary(signal: AbortSignal): Promise<StoredSummary | undefined> {
    const { plugin } = this.#sink ?? (await this.#restarted(signal));
    const ask = plugin.positions?.summary?.bind(plugin.positions);
    return ask === undefined ? undefined : await this.#limited("counting what is stored", signal, ask);
  }

  async alreadyStored(batch: TakenBatch, signal: AbortSignal): Promise<readonly Event[]> {
    const sink = this.#sink ?? (await this.#restarted(signal));
    const { positions } = sink.plugin;
    const ask = positions?.alreadyStored?.bind(positions);
    if (ask === undefined) return [];
    const found: unknown = await this.#asked("reading what is stored", signal, (own) => ask(sink.given(batch), own));
    batch.told();
    // A sink in JavaScript may return anything: what is no event of the batch, or is named again, is not stored by it.
    return Array.isArray(found) ? batch.only(found).events : [];
  }

  /** A sink that fails while it is asked does not answer. */
  async answers(error: unknown, signal: AbortSignal): Promise<StoreAnswer> {
    const own = error instanceof NamedFailure ? error.cause : error;
    try {
      const { plugin } = this.#sink ?? (await this.#restarted(signal));
      const ask = plugin.answers?.bind(plugin);
      if (ask === undefined) return undefined;
      return await this.#asked("asking the store", signal, (until) => ask(own, until));
    } catch (thrown) {
      this.#parts.log.debug({ reason: reasonOf(asError(thrown)) }, "the store does not answer");
      return false;
    }
  }

  /** The plugin did not catch an error: what it was doing may never end, and the next write starts a new sink. */
  abandon(cause: unknown): void {
    const reason = `calling sink "${this.#parts.name}": its plugin did not catch an error`;
    const error = new AgentError("STRAY_ERROR", reason, { cause, retryable: true });
    for (const { abandon } of [...this.#calls]) abandon(error);
  }

  async stop(signal: AbortSignal): Promise<void> {
    await this.#sink?.plugin.stop(signal);
  }

  async #judge(error: Error): Promise<void> {
    const retryable = retryableOf(error);
    this.#unknownErrors = retryable === undefined ? this.#unknownErrors + 1 : 0;
    if (retryable !== false || isPositionFault(error)) this.health.failed(error);
    if (ENDED.has(codeOf(error)) || this.#unknownErrors >= mostUnknownErrors) await this.#discard(error);
  }

  /** The batch goes to a new sink at its next try, which comes after the interval of batch_retry_intervals. */
  async #discard(error: unknown): Promise<void> {
    const { log, tell } = this.#parts;
    const sink = this.#sink;
    this.#sink = undefined;
    this.#unknownErrors = 0;
    if (sink === undefined) return;
    log.error({ reason: reasonOf(error) }, "sink is stopped and will be started again");
    tell?.("ERROR");
    await this.#end(sink);
  }

  async #restarted(signal: AbortSignal): Promise<SinkStage> {
    const { create, isOfOthers, log, tell } = this.#parts;
    const sink = new SinkStage(create(), isOfOthers);
    try {
      await this.#starting("starting again", signal, sink);
    } catch (cause) {
      await this.#end(sink);
      throw new AgentError("SINK_NOT_STARTED", `starting sink "${this.#parts.name}" again`, { cause, retryable: true });
    }
    this.#sink = sink;
    log.info({}, "sink started again");
    tell?.("START");
    return sink;
  }

  async #end({ plugin }: SinkStage): Promise<void> {
    try {
      await this.#limited("stopping", AbortSignal.abort(), (own) => plugin.stop(own));
    } catch (error) {
      this.#parts.log.warn({ reason: reasonOf(error) }, "sink did not stop cleanly and is left behind");
    }
  }

  async #starting(what: string, signal: AbortSignal, { plugin }: SinkStage): Promise<void> {
    const { startTimeout, persistTimeout } = this.#parts;
    await this.#limited(what, signal, () => plugin.start(), startTimeout ?? persistTimeout);
  }

  /** What no write runs beside: a sink that hangs in it is replaced, too. */
  async #asked<T>(what: string, signal: AbortSignal, ask: (own: AbortSignal) => Promise<T>): Promise<T> {
    try {
      return await this.#limited(what, signal, ask);
    } catch (error) {
      if (!signal.aborted && ENDED.has(codeOf(error))) await this.#discard(error);
      throw error;
    }
  }

  async #limited<T>(
    what: string,
    signal: AbortSignal,
    work: (own: AbortSignal) => Promise<T>,
    seconds: number = this.#parts.persistTimeout,
  ): Promise<T> {
    const call: Call = { began: this.#parts.clock.now(), abandon: () => {} };
    this.#calls.push(call);
    const begun = (abandon: Call["abandon"]) => {
      call.abandon = abandon;
    };
    const limit = { what: `${what} of sink "${this.#parts.name}"`, milliseconds: seconds * 1000, signal, begun };
    try {
      return await withinLimit(work, limit);
    } catch (thrown) {
      throw asError(thrown);
    } finally {
      this.#calls.splice(this.#calls.indexOf(call), 1);
    }
  }
}

/** Whether a write that failed may have stored its batch. */
function isInDoubt(error: unknown): boolean {
  return mayBeStored(error) || [...causesOf(error)].some((cause) => UNANSWERED.has(codeOf(cause)));
}
