import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { SpanExporter } from "@opentelemetry/sdk-trace-base";
import { type Logger, reasonOf } from "../sdk/index.js";
import type { Tracing } from "../tokens.js";
import { DeliverySpans } from "./delivery-spans.js";
import { type Environment, tracingEnvironment } from "./environment.js";
import { loadPackages, type Packages } from "./packages.js";
import { type ParentUse, RequestSpans } from "./request-spans.js";
import { SpanQueue } from "./span-queue.js";

interface TracingSetup {
  readonly env: Environment;
  /** The name of the agent. */
  readonly agent: string;
  readonly version: string;
  readonly parents: ParentUse;
  readonly log: Logger;
}

export interface OpenTracing extends Tracing {
  /** Exports what waits, within a short time; does not reject. */
  close(): Promise<void>;
}

/** Milliseconds that a stop waits for the collector. */
const flushTime = 2000;

/**
 * Begins to trace by the environment variables of OpenTelemetry; undefined when these turn it off. Rejects with codes
 * `TRACING_UNAVAILABLE` and `TRACING_SETTING`.
 */
export async function openTracing(setup: TracingSetup): Promise<OpenTracing | undefined> {
  const { env, log, parents: wanted } = setup;
  const { off, takesParents, mostLinks, ...limits } = tracingEnvironment(env);
  if (off !== undefined) {
    log.info({ variable: off }, "nothing is traced: this variable turns it off");
    return undefined;
  }
  const packages = await loadPackages();
  const { api } = packages;
  const parents = takesParents ? wanted : "ignore";
  const { queue, tracers } = reportingTo(log, packages, () => {
    const made = queueOf(packages, limits, log);
    return { queue: made, tracers: tracersOf(setup, packages, made) };
  });
  const requests = new RequestSpans({ api, tracer: tracers.requests, parents });
  const deliveries = new DeliverySpans({ api, tracer: tracers.deliveries, mostLinks });
  log.info({ parents, sampler: env["OTEL_TRACES_SAMPLER"] ?? "parentbased_always_on" }, "tracing is on");
  return {
    request: (source, request) => requests.begin(source, request),
    delivery: (batch) => deliveries.begin(batch),
    get counts() {
      return queue.counts;
    },
    close: () => closed(queue, log),
  };
}

interface QueueLimits {
  readonly mostWaiting: number;
  readonly longestExport: number;
}

function queueOf({ sdk, otlp }: Packages, limits: QueueLimits, log: Logger): SpanQueue {
  const exporter = new otlp.OTLPTraceExporter();
  const settings = { maxQueueSize: limits.mostWaiting, exportTimeoutMillis: limits.longestExport };
  const queueOver = (over: SpanExporter) => new sdk.BatchSpanProcessor(over, settings);
  return new SpanQueue({ ...limits, exporter, log, queueOver });
}

/** One by the sampler of the environment, and one that samples all; both write to the queue. */
function tracersOf({ agent, version }: TracingSetup, { sdk, resources }: Packages, queue: SpanQueue) {
  const own = resources.resourceFromAttributes({
    "service.name": "deneb",
    "service.version": version,
    "service.instance.id": randomUUID(),
    "deneb.agent": agent,
  });
  const given = resources.detectResources({ detectors: [resources.envDetector] });
  const resource = resources.defaultResource().merge(own).merge(given);
  const common = { resource, spanProcessors: [queue] };
  const tracerOf = (provider: InstanceType<typeof sdk.BasicTracerProvider>) => provider.getTracer("deneb", version);
  return {
    requests: tracerOf(new sdk.BasicTracerProvider(common)),
    deliveries: tracerOf(new sdk.BasicTracerProvider({ ...common, sampler: new sdk.AlwaysOnSampler() })),
  };
}

/** Logs what OpenTelemetry says about its settings. Later it says nothing: failed exports are reported once. */
function reportingTo<T>(log: Logger, { api }: Packages, work: () => T): T {
  const said = new Set<string>();
  const warn = (message: string, ...more: readonly unknown[]) => {
    const reason = [message, ...more].join(" ");
    if (!said.has(reason)) log.warn({ reason }, "setting of OpenTelemetry");
    said.add(reason);
  };
  const silent = () => {};
  api.diag.setLogger({ error: warn, warn, info: silent, debug: silent, verbose: silent }, api.DiagLogLevel.WARN);
  try {
    return work();
  } finally {
    api.diag.disable();
  }
}

async function closed(queue: SpanQueue, log: Logger): Promise<void> {
  const end = new AbortController();
  const late = delay(flushTime, "late", { signal: end.signal }).catch(() => "late");
  const flushed = queue.shutdown().catch((error: unknown) => reasonOf(error));
  const outcome = await Promise.race([flushed, late]);
  end.abort();
  if (outcome === undefined) return;
  const { waiting, failed, dropped } = queue.counts;
  log.warn(
    { waiting, failed, dropped, reason: outcome === "late" ? `not within ${flushTime} ms` : outcome },
    "spans left at the stop",
  );
}
