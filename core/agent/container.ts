import "reflect-metadata";
import { container, type DependencyContainer, type InjectionToken, instanceCachingFactory } from "tsyringe";
import { managementProperties } from "../configuration/management-settings.js";
import type { Topology } from "../configuration/topology.js";
import { observers } from "../metrics/observers.js";
import { Prometheus } from "../metrics/prometheus.js";
import { SinkProgress } from "../metrics/sink-progress.js";
import { TransactionMetrics } from "../metrics/transaction-metrics.js";
import { CLOCK, LOGGERS, type Loggers } from "../tokens.js";
import { Agent } from "./agent.js";
import { assemble } from "./assemble.js";
import { componentStates } from "./component-states.js";
import { Readiness } from "./readiness.js";
import { Statistics } from "./statistics.js";

export const AGENT: InjectionToken<Agent> = Symbol("Agent");
export const STATISTICS: InjectionToken<Statistics> = Symbol("Statistics");
export const METRICS: InjectionToken<TransactionMetrics> = Symbol("TransactionMetrics");
export const PROMETHEUS: InjectionToken<Prometheus> = Symbol("Prometheus");
export const READINESS: InjectionToken<Readiness> = Symbol("Readiness");
const PROGRESS: InjectionToken<SinkProgress> = Symbol("SinkProgress");

export interface AgentSetup {
  readonly topology: Topology;
  readonly dataDir: string;
  readonly loggers: Loggers;
  /** How it is watched; the defaults are those of the kernel settings. */
  readonly watching?: Watching;
}

export interface Watching {
  /** Seconds without progress after which a sink counts as stalled. */
  readonly stallThreshold: number;
  /** Most services that are counted by themselves. */
  readonly metricsServices: number;
}

const usualWatching: Watching = {
  stallThreshold: managementProperties.stallThreshold.default,
  metricsServices: managementProperties.metricsServices.default,
};

/** A container of its own for one agent: everything is asked for by token, nothing is global. */
export function agentContainer({
  topology,
  dataDir,
  loggers,
  watching = usualWatching,
}: AgentSetup): DependencyContainer {
  const own = container.createChildContainer();
  own.register(CLOCK, { useValue: { now: () => new Date() } });
  own.register(LOGGERS, { useValue: loggers });
  registerWatchers(own, watching);
  own.register(AGENT, {
    useFactory: instanceCachingFactory((scope) => {
      const progress = scope.resolve(PROGRESS);
      const prometheus = scope.resolve(PROMETHEUS);
      const observer = observers([scope.resolve(METRICS), progress, prometheus.observer]);
      const parts = { loggers: scope.resolve(LOGGERS), clock: scope.resolve(CLOCK), dataDir, observer };
      const assembly = assemble(topology, parts);
      const agent = new Agent({ name: topology.agent, assembly, dataDir, log: parts.loggers.of("agent") });
      prometheus.observe(() => componentStates(agent, progress, parts.clock));
      return agent;
    }),
  });
  own.register(STATISTICS, { useFactory: instanceCachingFactory((scope) => new Statistics(scope.resolve(AGENT))) });
  return own;
}

/** What looks on while the agent works. */
function registerWatchers(own: DependencyContainer, { stallThreshold, metricsServices }: Watching): void {
  own.register(METRICS, { useValue: new TransactionMetrics(metricsServices) });
  own.register(PROGRESS, { useFactory: instanceCachingFactory((scope) => new SinkProgress(scope.resolve(CLOCK))) });
  own.register(PROMETHEUS, { useValue: new Prometheus(metricsServices) });
  own.register(READINESS, {
    useFactory: instanceCachingFactory(
      (scope) =>
        new Readiness({
          agent: scope.resolve(AGENT),
          progress: scope.resolve(PROGRESS),
          clock: scope.resolve(CLOCK),
          stallSeconds: stallThreshold,
        }),
    ),
  });
}
