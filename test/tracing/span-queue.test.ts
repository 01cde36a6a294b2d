import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { BasicTracerProvider, BatchSpanProcessor, type SpanExporter } from "@opentelemetry/sdk-trace-base";
import { SpanQueue } from "../../core/tracing/span-queue.js";
import { recordingLog } from "../support/recording-log.js";

type Done = Parameters<SpanExporter["export"]>[1];

/** A queue over an exporter that answers when the test says so, and a function that ends a number of spans. */
function queueWith(context: TestContext, mostWaiting: number, largestExport: number) {
  const running: Done[] = [];
  const { log, lines } = recordingLog();
  let isOver = false;
  const exporter: SpanExporter = {
    export: (_spans, done) => {
      if (isOver) done({ code: 0 });
      else running.push(done);
    },
    shutdown: async () => {},
  };
  // What nobody answers would keep the process for the time limit of an export, 30 seconds.
  context.after(() => {
    isOver = true;
    for (const done of running.splice(0)) done({ code: 0 });
  });
  const limits = { maxExportBatchSize: largestExport, maxQueueSize: mostWaiting, scheduledDelayMillis: 600_000 };
  const queueOver = (over: SpanExporter) => new BatchSpanProcessor(over, limits);
  const queue = new SpanQueue({ exporter, queueOver, mostWaiting, longestExport: 600_000, log });
  const tracer = new BasicTracerProvider({ spanProcessors: [queue] }).getTracer("test");
  const end = (count: number) => {
    for (let n = 0; n < count; n += 1) tracer.startSpan("s").end();
  };
  return { queue, running, lines, end };
}

test("a queue that is full drops spans and counts them", (context) => {
  const { queue, lines, end } = queueWith(context, 4, 2);

  end(20);

  assert.deepEqual(queue.counts, { exported: 0, failed: 0, dropped: 14, waiting: 4 });
  assert.deepEqual(
    lines.map(({ level, message }) => [level, message]),
    [["warn", "spans dropped: more end than are exported; sample fewer"]],
  );
});

test("an outage of the collector is one log line, and its end another", async (context) => {
  const { queue, running, lines, end } = queueWith(context, 10, 1);
  const answer = async (result: Parameters<Done>[0]) => {
    running.shift()?.(result);
    await new Promise((resolve) => setImmediate(resolve));
  };
  end(5);

  for (const code of [0, 1, 1, 0, 0]) await answer({ code, ...(code === 0 ? {} : { error: new Error("away") }) });

  assert.deepEqual(queue.counts, { exported: 3, failed: 2, dropped: 0, waiting: 0 });
  assert.deepEqual(
    lines.map(({ message }) => message),
    ["spans not exported; notifications are not affected", "spans are exported again"],
  );
});

test("an exporter that throws has failed", () => {
  const { log, lines } = recordingLog();
  const exporter: SpanExporter = {
    export: () => {
      throw new Error("broken");
    },
    shutdown: async () => {},
  };
  const queueOver = (over: SpanExporter) => new BatchSpanProcessor(over, { maxExportBatchSize: 1 });
  const queue = new SpanQueue({ exporter, queueOver, mostWaiting: 4, longestExport: 600_000, log });

  new BasicTracerProvider({ spanProcessors: [queue] }).getTracer("test").startSpan("s").end();

  assert.equal(queue.counts.failed, 1);
  assert.equal(lines.length, 1);
});
