import { once } from "node:events";
import { reasonWithRemedy } from "../files/refused-access.js";
import { codeOf } from "../sdk/index.js";
import type { Environment } from "../tracing/environment.js";
import type { OpenTracing } from "../tracing/open-tracing.js";
import { type BuiltService, buildService, type Service } from "./build-service.js";
import { exitCodes, type Terminal } from "./command.js";
import { startAndOpen } from "./start-and-open.js";
import { untilEmptied } from "./workers/emptied.js";
import { watchSocket } from "./workers/socket-watch.js";

/** Runs the agent and its management interface until a stop is asked for; resolves to the exit code. */
export async function serve(service: Service, terminal: Terminal): Promise<number> {
  const { settings } = service;
  const log = service.logging.loggers.of("deneb");
  let tracing: OpenTracing | undefined;
  try {
    tracing = await beginTracing(service, terminal.env);
    const built = buildService(service, tracing, terminal.worker?.role);
    const { agent, management, reloading, replays, verifier, erasure, strays } = built;
    terminal.onReload?.(() => reloading.now());
    terminal.onStopAgain?.(() => agent.eventsInMemory);
    const { suspects } = strays;
    if (suspects.length > 0) terminal.onStrayError?.((error) => strays.take(error), suspects);
    let lost = 0;
    // Before a source takes anything: what nobody can watch does not start.
    await management.start();
    const endWatch = watchSocket(terminal.worker?.role.socket, management, service.logging.loggers.of("management"));
    try {
      await startAndOpen(built, {
        gracePeriodSeconds: settings.gracePeriodSeconds,
        stopRequested: terminal.stopRequested,
      });
      try {
        reloading.start();
        verifier.start();
        erasure.start();
        if (settings.deadLetterReplay) replays.start();
        log.info({ version: service.version, dataDir: settings.dataDir }, "ready");
        terminal.worker?.ready();
        await untilOver(terminal, built);
        log.info({ gracePeriodSeconds: settings.gracePeriodSeconds }, "stopping");
      } finally {
        verifier.stop();
        erasure.stop();
        await reloading.stop();
        await replays.stop();
        lost = await agent.stop(settings.gracePeriodSeconds * 1000);
      }
    } finally {
      endWatch();
      await management.stop(AbortSignal.abort());
      strays.stop();
    }
    if (lost === 0) return exitCodes.success;
    log.error({ events: lost }, "ended with a loss: these events were in memory and could not be kept");
    return exitCodes.eventsLost;
  } catch (error) {
    if (codeOf(error) === "START_GIVEN_UP") return exitCodes.success;
    log.error({ reason: await reasonWithRemedy(error) }, "the agent cannot run");
    return codeOf(error) === "FOLDER_IN_USE" ? exitCodes.folderInUse : exitCodes.failure;
  } finally {
    await tracing?.close();
  }
}

/** Begins to trace when the settings say so. Nothing of OpenTelemetry is loaded otherwise. */
async function beginTracing(service: Service, env: Environment): Promise<OpenTracing | undefined> {
  const { topology, settings, version, logging } = service;
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

/** Until a stop is asked for; a worker that receives nothing ends by itself. */
async function untilOver({ stopRequested, worker }: Terminal, { agent, letters }: BuiltService): Promise<void> {
  if (worker?.role.receives === false) await untilEmptied(agent, letters, stopRequested);
  else if (!stopRequested.aborted) await once(stopRequested, "abort");
}
