import type { KernelSettings } from "../configuration/schema/kernel-settings.js";
import type { Topology } from "../configuration/topology.js";
import type { Logging } from "../logging/logging.js";
import type { Environment } from "../tracing/environment.js";
import type { OpenTracing } from "../tracing/open-tracing.js";

interface TracedRun {
  readonly topology: Topology;
  readonly settings: KernelSettings;
  readonly version: string;
  readonly logging: Logging;
}

/** Begins to trace when the settings say so. Nothing of OpenTelemetry is loaded otherwise. */
export async function beginTracing(run: TracedRun, env: Environment): Promise<OpenTracing | undefined> {
  const { topology, settings, version, logging } = run;
  if (!settings.tracing) {
    const variable = collectors.find((name) => (env[name] ?? "") !== "");
    if (variable !== undefined) logging.loggers.of("deneb").info({ variable }, "nothing is traced: --tracing is off");
    return undefined;
  }
  const log = logging.loggers.of("tracing");
  const { openTracing } = await import("../tracing/open-tracing.js");
  return await openTracing({ env, agent: topology.agent, version, parents: settings.tracingParents, log });
}

/** Who sets one of these expects to be traced. */
const collectors = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"] as const;
