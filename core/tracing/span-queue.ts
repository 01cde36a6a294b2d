import type { SpanExporter, SpanProcessor } from "@opentelemetry/sdk-trace-base";
import { type Logger, reasonOf } from "../sdk/index.js";
import type { SpanCounts } from "../tokens.js";

type EndedSpan = Parameters<SpanProcessor["onEnd"]>[0];
type Exported = Parameters<SpanExporter["export"]>;

interface SpanQueueParts {
  readonly exporter: SpanExporter;
  /** Makes the queue of OpenTelemetry, which hands its batches to the exporter that it is given. */
  readonly queueOver: (exporter: SpanExporter) => SpanProcessor;
  readonly mostWaiting: number;
  /** Milliseconds after which an export that is not answered has failed; the queue of OpenTelemetry goes on without it then. */
  readonly longestExport: number;
  readonly log: Logger;
}

/** Milliseconds between two lines about dropped spans. */
const INTERVAL = 60_000;

/** Result codes of an export. */
const SUCCESS = 0;
const FAILED = 1;

/**
 * Spans on their way to the collector: a bounded queue, which never waits and counts what it drops. An outage of the collector
 * is one log line, its end another.
 */
export class SpanQueue implements SpanProcessor {
  readonly #parts: SpanQueueParts;
  readonly #queue: SpanProcessor;
  #exported = 0;
  #failed = 0;
  #dropped = 0;
  #waiting = 0;
  #isFailing = false;
  #lineAfter = 0;

  constructor(parts: SpanQueueParts) {
    const { exporter, queueOver } = parts;
    this.#parts = parts;
    this.#queue = queueOver({
      export: (spans, done) => this.#export(spans, done),
      shutdown: () => exporter.shutdown(),
    });
  }

  get counts(): SpanCounts {
    return { exported: this.#exported, failed: this.#failed, dropped: this.#dropped, waiting: this.#waiting };
  }

  onStart(): void {}

  onEnd(span: EndedSpan): void {
    if (this.#waiting >= this.#parts.mostWaiting) this.#drop();
    else {
      this.#waiting += 1;
      this.#queue.onEnd(span);
    }
  }

  async forceFlush(): Promise<void> {
    await this.#queue.forceFlush();
  }

  /** Exports what waits; rejects when the collector does not take it. */
  async shutdown(): Promise<void> {
    await this.#queue.shutdown();
  }

  #export(spans: Exported[0], done: Exported[1]): void {
    this.#waiting -= spans.length;
    const { longestExport } = this.#parts;
    let hasEnded = false;
    const ended: Exported[1] = (result) => {
      if (hasEnded) return;
      hasEnded = true;
      clearTimeout(late);
      this.#report(spans.length, result.code === SUCCESS ? undefined : (result.error ?? new Error("no reason given")));
      done(result);
    };
    const error = new Error(`the answer was not complete within ${longestExport} ms`);
    const late = setTimeout(() => ended({ code: FAILED, error }), longestExport).unref();
    try {
      this.#parts.exporter.export(spans, ended);
    } catch (thrown) {
      ended({ code: FAILED, error: thrown instanceof Error ? thrown : new Error(String(thrown)) });
    }
  }

  #report(spans: number, error: Error | undefined): void {
    const { log } = this.#parts;
    const wasFailing = this.#isFailing;
    this.#isFailing = error !== undefined;
    if (error === undefined) this.#exported += spans;
    else this.#failed += spans;
    if (error !== undefined && !wasFailing)
      log.warn({ reason: reasonOf(error) }, "spans not exported; notifications are not affected");
    if (error === undefined && wasFailing)
      log.info({ failed: this.#failed, dropped: this.#dropped }, "spans are exported again");
  }

  #drop(): void {
    this.#dropped += 1;
    const now = performance.now();
    if (this.#isFailing || now < this.#lineAfter) return;
    this.#lineAfter = now + INTERVAL;
    const fields = { dropped: this.#dropped, waiting: this.#waiting };
    this.#parts.log.warn(fields, "spans dropped: more end than are exported; sample fewer");
  }
}
