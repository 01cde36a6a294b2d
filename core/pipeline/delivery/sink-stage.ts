import { isError, messageOf } from "../../sdk/causes.js";
import { frozenEvent, withRemedy } from "../../sdk/frozen.js";
import { AgentError, type Batch, codeOf, type Event, type Receipt, retryableOf, type Sink } from "../../sdk/index.js";
import { understood } from "./named-failure.js";
import type { Course, Stage } from "./stage.js";
import type { TakenBatch } from "./taken-batch.js";

/** The sink of a plugin, at the end of the way: one batch in, one write. */
export class SinkStage implements Stage {
  readonly name = "sink";
  readonly plugin: Sink;
  readonly #isOfOthers: boolean;

  constructor(plugin: Sink, isOfOthers = false) {
    this.plugin = plugin;
    this.#isOfOthers = isOfOthers;
  }

  get keepsPositions(): boolean {
    return this.plugin.positions?.stored !== undefined;
  }

  /** Whether it can be asked later which events of a write are stored. */
  get tells(): boolean {
    return this.plugin.positions?.alreadyStored !== undefined;
  }

  async deliver(batch: TakenBatch, { signal, trace }: Course): Promise<Receipt> {
    try {
      return receiptOf(await this.plugin.persist(this.given(batch, trace?.traceparent), signal), batch);
    } catch (thrown) {
      const error = this.#isOfOthers ? withRemedy(thrown) : thrown;
      throw understood(asError(error), { events: batch.events, keepsPositions: this.keepsPositions });
    }
  }

  /** What the plugin gets. Sinks of other channels may have the same events: one of others cannot change them. */
  given(batch: TakenBatch, traceparent?: string): Batch {
    if (this.#isOfOthers) for (const event of batch.events) frozenEvent(event);
    return batch.forSink(traceparent);
  }
}

/** Somebody may throw a text, or an object that cannot even be made one. */
export function asError(thrown: unknown): Error {
  if (isError(thrown)) return thrown;
  const known = { code: codeOf(thrown), retryable: retryableOf(thrown) };
  // Not the members of an object: those of a client may hold a password or a token.
  const message = `the sink threw what is no error: ${messageOf(thrown)}`;
  return known.retryable === undefined
    ? new Error(message)
    : new AgentError(known.code ?? "UNKNOWN", message, { retryable: known.retryable });
}

/**
 * A sink in JavaScript may return anything, also members that throw when they are read: that it resolved is what counts, and a write
 * that failed now would be made again.
 */
function receiptOf(returned: Partial<Receipt> | null | undefined, batch: TakenBatch): Receipt {
  const elsewhere = readable(() => listed(returned?.elsewhere, batch));
  return {
    requestBytes: bytesOf(readable(() => returned?.requestBytes)),
    responseBytes: bytesOf(readable(() => returned?.responseBytes)),
    ...(elsewhere === undefined ? {} : { elsewhere }),
  };
}

function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function listed(events: unknown, batch: TakenBatch): readonly Event[] | undefined {
  return Array.isArray(events) ? batch.only(events).events : undefined;
}

function bytesOf(count: unknown): number {
  return typeof count === "number" && count >= 0 && count < Number.POSITIVE_INFINITY ? count : 0;
}
