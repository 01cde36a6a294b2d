import { inspect } from "node:util";
import {
  AgentError,
  type Batch,
  codeOf,
  type Event,
  type Logger,
  type Receipt,
  reasonOf,
  retryableOf,
  type Sink,
} from "../sdk/index.js";
import type { Clock } from "../tokens.js";
import { SinkHealth } from "./sink-health.js";
import { withinLimit } from "./within-limit.js";

/** So many errors in a row that do not say what they mean, and the sink is thought to be broken. */
const mostUnknownErrors = 3;

export interface SupervisedSinkParts {
  readonly name: string;
  /** Makes the sink, and another one whenever it has to be replaced. No I/O. */
  readonly create: () => Sink;
  /** Seconds one write may take; 0 for ever. */
  readonly persistTimeout: number;
  /** Seconds one start may take, 0 for ever; as long as a write when absent. */
  readonly startTimeout?: number;
  readonly log: Logger;
  readonly clock: Clock;
  /** Told when the sink is stopped because it hangs or fails again and again, and when a new one runs. */
  readonly tell?: (status: "ERROR" | "START") => void;
}

/**
 * A sink that never dies for good: a write that hangs is given up at its limit, the sink is stopped, and the next try
 * starts a new one. Whatever it throws arrives as an error.
 */
export class SupervisedSink implements Sink {
  readonly health: SinkHealth;
  readonly #parts: SupervisedSinkParts;
  /** Undefined while there is none that works. */
  #sink: Sink | undefined;
  #unknownErrors = 0;

  constructor(parts: SupervisedSinkParts) {
    this.#parts = parts;
    this.health = new SinkHealth(parts.clock);
    this.#sink = parts.create();
  }

  get largestBatch(): number | undefined {
    return this.#sink?.largestBatch;
  }

  get batchLinger(): number | undefined {
    return this.#sink?.batchLinger;
  }

  /** Throws code `TIMED_OUT` when the sink hangs; then it is stopped, and the next write starts a new one. */
  async start(): Promise<void> {
    const sink = this.#sink;
    if (sink === undefined) return;
    try {
      await this.#starting("starting", new AbortController().signal, sink);
    } catch (thrown) {
      const error = asError(thrown);
      if (codeOf(error) === "TIMED_OUT") {
        this.health.failed(error);
        await this.#discard(error);
      }
      throw error;
    }
  }

  async persist(batch: Batch, signal: AbortSignal): Promise<Receipt> {
    try {
      const sink = this.#sink ?? (await this.#restarted(signal));
      const receipt = await this.#limited("a write", signal, (own) => sink.persist(batch, own));
      this.#unknownErrors = 0;
      this.health.works();
      return receipt;
    } catch (thrown) {
      const error = asError(thrown);
      if (!signal.aborted) await this.#judge(error);
      throw error;
    }
  }

  async storedPositions(signal: AbortSignal): Promise<readonly string[]> {
    const sink = this.#sink ?? (await this.#restarted(signal));
    const read = sink.storedPositions?.bind(sink);
    return read === undefined ? [] : await this.#limited("reading the positions", signal, read);
  }

  async alreadyStored(batch: Batch, signal: AbortSignal): Promise<readonly Event[]> {
    const sink = this.#sink ?? (await this.#restarted(signal));
    const ask = sink.alreadyStored?.bind(sink);
    if (ask === undefined) return [];
    return await this.#limited("reading what is stored", signal, (own) => ask(batch, own));
  }

  async stop(signal: AbortSignal): Promise<void> {
    await this.#sink?.stop(signal);
  }

  async #judge(error: Error): Promise<void> {
    const retryable = retryableOf(error);
    this.#unknownErrors = retryable === undefined ? this.#unknownErrors + 1 : 0;
    if (retryable !== false) this.health.failed(error);
    if (codeOf(error) === "TIMED_OUT" || this.#unknownErrors >= mostUnknownErrors) await this.#discard(error);
  }

  /** The batch goes to a new sink at its next try, which comes after the interval of batch_retry_intervals. */
  async #discard(error: Error): Promise<void> {
    const { log, tell } = this.#parts;
    const sink = this.#sink;
    this.#sink = undefined;
    this.#unknownErrors = 0;
    if (sink === undefined) return;
    log.error({ reason: reasonOf(error) }, "sink is stopped and will be started again");
    tell?.("ERROR");
    await this.#end(sink);
  }

  async #restarted(signal: AbortSignal): Promise<Sink> {
    const { create, log, tell } = this.#parts;
    const sink = create();
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

  async #end(sink: Sink): Promise<void> {
    try {
      await this.#limited("stopping", AbortSignal.abort(), (own) => sink.stop(own));
    } catch (error) {
      this.#parts.log.warn({ reason: reasonOf(error) }, "sink did not stop cleanly and is left behind");
    }
  }

  async #starting(what: string, signal: AbortSignal, sink: Sink): Promise<void> {
    const { startTimeout, persistTimeout } = this.#parts;
    await this.#limited(what, signal, () => sink.start(), startTimeout ?? persistTimeout);
  }

  async #limited<T>(
    what: string,
    signal: AbortSignal,
    work: (own: AbortSignal) => Promise<T>,
    seconds: number = this.#parts.persistTimeout,
  ): Promise<T> {
    const limit = { what: `${what} of sink "${this.#parts.name}"`, milliseconds: seconds * 1000, signal };
    return await withinLimit(work, limit);
  }
}

/** Somebody may throw a text, or an object that cannot even be made one. */
function asError(thrown: unknown): Error {
  if (thrown instanceof Error) return thrown;
  const known = { code: codeOf(thrown), retryable: retryableOf(thrown) };
  const message = `the sink threw ${inspect(thrown, { depth: 1, breakLength: Number.POSITIVE_INFINITY })}`;
  return known.retryable === undefined
    ? new Error(message)
    : new AgentError(known.code ?? "UNKNOWN", message, { retryable: known.retryable });
}
