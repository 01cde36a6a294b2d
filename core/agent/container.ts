import "reflect-metadata";
import path from "node:path";
import { container, type DependencyContainer, type InjectionToken, instanceCachingFactory } from "tsyringe";
import { managementProperties } from "../configuration/schema/management-properties.js";
import type { Topology } from "../configuration/topology.js";
import { Prometheus } from "../metrics/prometheus.js";
import { TransactionMetrics } from "../metrics/transaction-metrics.js";
import { CrashWatch } from "../pipeline/crash-watch.js";
import { type DeadLetterLimits, DeadLetters } from "../pipeline/dead-letters/dead-letters.js";
import { Erasures } from "../pipeline/erasures.js";
import { Ledger } from "../pipeline/ledger.js";
import { QuotaBooks } from "../pipeline/service-quota.js";
import {
  CLOCK,
  LOGGERS,
  type Loggers,
  observers,
  systemClock,
  type Tracing,
  type TransactionObserver,
} from "../tokens.js";
import { Agent } from "./agent.js";
import { AgentErasure } from "./agent-erasure.js";
import { ArrivalSample } from "./arrivals/arrival-sample.js";
import { assemble } from "./assemble.js";
import { Certificates } from "./certificates.js";
import { type AssemblyParts, plainContextOf } from "./component-context.js";
import { ExplainRunning } from "./explain/explain-running.js";
import { kernelFiles } from "./kernel-files.js";
import { LiveView } from "./live/live-view.js";
import { partsOf } from "./parts-of.js";
import { Reload } from "./reload.js";
import { AutomaticReplay } from "./replay/automatic-replay.js";
import { DeadLetterReplay } from "./replay/dead-letter-replay.js";
import { observed } from "./state/observed.js";
import { Readiness } from "./state/readiness.js";
import { RecentActivity } from "./state/recent-activity.js";
import { Statistics } from "./state/statistics.js";
import { UsedFolders } from "./used-folders.js";
import { Verifier } from "./verification/verifier.js";

export const AGENT: InjectionToken<Agent> = Symbol("Agent");
export const STATISTICS: InjectionToken<Statistics> = Symbol("Statistics");
export const DEAD_LETTERS: InjectionToken<DeadLetters> = Symbol("DeadLetters");
const CRASH_WATCH: InjectionToken<CrashWatch> = Symbol("CrashWatch");
export const LEDGER: InjectionToken<Ledger> = Symbol("Ledger");
export const DEAD_LETTER_REPLAY: InjectionToken<DeadLetterReplay> = Symbol("DeadLetterReplay");
export const AUTOMATIC_REPLAY: InjectionToken<AutomaticReplay> = Symbol("AutomaticReplay");
export const METRICS: InjectionToken<TransactionMetrics> = Symbol("TransactionMetrics");
export const PROMETHEUS: InjectionToken<Prometheus> = Symbol("Prometheus");
export const READINESS: InjectionToken<Readiness> = Symbol("Readiness");
const PARTS: InjectionToken<AssemblyParts> = Symbol("AssemblyParts");
const QUOTAS: InjectionToken<QuotaBooks> = Symbol("QuotaBooks");
export const ERASURES: InjectionToken<Erasures> = Symbol("Erasures");
export const ARRIVALS: InjectionToken<ArrivalSample> = Symbol("ArrivalSample");
export const EXPLAIN_RUNNING: InjectionToken<ExplainRunning> = Symbol("ExplainRunning");
export const LIVE_VIEW: InjectionToken<LiveView> = Symbol("LiveView");
export const AGENT_ERASURE: InjectionToken<AgentErasure> = Symbol("AgentErasure");
export const CERTIFICATES: InjectionToken<Certificates> = Symbol("Certificates");
const FOLDERS: InjectionToken<UsedFolders> = Symbol("UsedFolders");
const ACTIVITY: InjectionToken<RecentActivity> = Symbol("RecentActivity");
export const VERIFIER: InjectionToken<Verifier> = Symbol("Verifier");
export const RELOAD: InjectionToken<Reload> = Symbol("Reload");

interface AgentSetup {
  readonly topology: Topology;
  readonly dataDir: string;
  readonly loggers: Loggers;
  /** No limits when absent. */
  readonly deadLetterLimits?: DeadLetterLimits;
  /** How it is watched; the defaults are those of the kernel settings. */
  readonly watching?: Watching;
  /** Seconds that the start of a source or sink may take, 0 is no limit. */
  readonly startTimeout?: number;
  /** Seconds that a channel waits for another process that holds its folders; absent: not at all. */
  readonly lockWait?: number;
  /** Looks on besides the metrics. */
  readonly observer?: Partial<TransactionObserver>;
  /** Absent while tracing is off. */
  readonly tracing?: Tracing;
}

interface Watching {
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
export function agentContainer(setup: AgentSetup): DependencyContainer {
  const { topology, dataDir, loggers, watching = usualWatching, tracing } = setup;
  const own = container.createChildContainer();
  /** What is made when it is asked for the first time. */
  const register = <T>(token: InjectionToken<T>, make: (scope: DependencyContainer) => T) =>
    own.register(token, { useFactory: instanceCachingFactory(make) });
  own.register(CLOCK, { useValue: systemClock });
  own.register(LOGGERS, { useValue: loggers });
  register(PARTS, (scope) => assemblyParts(scope, setup));
  register(DEAD_LETTERS, (scope) => deadLetters(scope, setup));
  register(LEDGER, (scope) => new Ledger(path.join(dataDir, kernelFiles.ledger), scope.resolve(LOGGERS).of("ledger")));
  register(CRASH_WATCH, () => new CrashWatch(path.join(dataDir, kernelFiles.inHand)));
  register(QUOTAS, () => new QuotaBooks());
  register(ERASURES, () => new Erasures(path.join(dataDir, kernelFiles.erasures)));
  own.register(METRICS, { useValue: new TransactionMetrics(watching.metricsServices) });
  own.register(PROMETHEUS, { useValue: new Prometheus(watching.metricsServices) });
  register(ACTIVITY, (scope) => new RecentActivity(scope.resolve(CLOCK)));
  register(READINESS, (scope) => {
    const parts = { activity: scope.resolve(ACTIVITY), clock: scope.resolve(CLOCK) };
    return new Readiness({ ...parts, agent: scope.resolve(AGENT), stallSeconds: watching.stallThreshold });
  });
  register(AGENT, (scope) => {
    const parts = scope.resolve(PARTS);
    const assembly = assemble(topology, parts);
    const agent = new Agent({ ...parts, name: topology.agent, assembly, log: parts.loggers.of("agent") });
    const readings = observed(agent, {
      ...parts,
      activity: scope.resolve(ACTIVITY),
      folders: scope.resolve(FOLDERS),
      conditions: () => scope.resolve(READINESS).conditions(),
      certificates: () => scope.resolve(CERTIFICATES).states(),
      limitBytes: setup.deadLetterLimits?.bytes ?? 0,
    });
    scope.resolve(PROMETHEUS).observe(readings);
    if (tracing !== undefined) scope.resolve(PROMETHEUS).observeTracing(() => tracing.counts);
    return agent;
  });
  register(FOLDERS, () => new UsedFolders(dataDir));
  register(CERTIFICATES, (scope) => new Certificates(() => partsOf(scope.resolve(AGENT).assembly)));
  register(STATISTICS, (scope) => new Statistics(viewed(scope)));
  register(ARRIVALS, (scope) => new ArrivalSample({ agent: () => scope.resolve(AGENT), clock: scope.resolve(CLOCK) }));
  register(EXPLAIN_RUNNING, (scope) => new ExplainRunning({ ...viewed(scope), dataDir }));
  register(LIVE_VIEW, (scope) => new LiveView({ ...viewed(scope), arrivals: scope.resolve(ARRIVALS) }));
  register(VERIFIER, (scope) => new Verifier({ ...viewed(scope), log: scope.resolve(LOGGERS).of("ledger") }));
  register(DEAD_LETTER_REPLAY, (scope) => {
    const parts = scope.resolve(PARTS);
    const contextOf = (sink: string) => plainContextOf(sink, parts);
    return new DeadLetterReplay({ agent: scope.resolve(AGENT), letters: parts.deadLetters, contextOf });
  });
  register(AGENT_ERASURE, (scope) => {
    const log = scope.resolve(LOGGERS).of("erasure");
    return new AgentErasure({ ...viewed(scope), erasures: scope.resolve(ERASURES), log });
  });
  register(AUTOMATIC_REPLAY, (scope) => {
    const parts = { deadLetterReplay: scope.resolve(DEAD_LETTER_REPLAY), letters: scope.resolve(DEAD_LETTERS) };
    const log = scope.resolve(LOGGERS).of("dead-letters");
    return new AutomaticReplay({ ...parts, activity: scope.resolve(ACTIVITY), clock: scope.resolve(CLOCK), log });
  });
  register(RELOAD, (scope) => {
    const ended = (ok: boolean, time: Date) => {
      const names = partsOf(scope.resolve(AGENT).assembly).map(({ name }) => name);
      scope.resolve(PROMETHEUS).keepMetricsOf(new Set(names));
      scope.resolve(PROMETHEUS).reloaded(ok, time);
    };
    const log = scope.resolve(LOGGERS).of("reload");
    return new Reload({ agent: scope.resolve(AGENT), topology, parts: scope.resolve(PARTS), log, ended });
  });
  return own;
}

/** What those need that show or change what the agent has. */
function viewed(scope: DependencyContainer) {
  return {
    agent: scope.resolve(AGENT),
    ledger: scope.resolve(LEDGER),
    letters: scope.resolve(DEAD_LETTERS),
    readiness: scope.resolve(READINESS),
    reloads: scope.resolve(RELOAD),
    clock: scope.resolve(CLOCK),
  };
}

function assemblyParts(scope: DependencyContainer, setup: AgentSetup): AssemblyParts {
  const { topology, dataDir, startTimeout, lockWait, observer, tracing } = setup;
  const further = observer === undefined ? [] : [observer];
  return {
    ...(startTimeout === undefined ? {} : { startTimeout }),
    ...(lockWait === undefined ? {} : { lockWait }),
    ...(tracing === undefined ? {} : { tracing }),
    agent: topology.agent,
    loggers: scope.resolve(LOGGERS),
    clock: scope.resolve(CLOCK),
    deadLetters: scope.resolve(DEAD_LETTERS),
    ledger: scope.resolve(LEDGER),
    crashWatch: scope.resolve(CRASH_WATCH),
    erasures: scope.resolve(ERASURES),
    quotas: scope.resolve(QUOTAS),
    observer: observers([
      scope.resolve(METRICS),
      scope.resolve(ACTIVITY),
      ...scope.resolve(PROMETHEUS).observers,
      ...further,
    ]),
    folders: scope.resolve(FOLDERS),
    arrivals: scope.resolve(ARRIVALS),
    metricsOf: (component) => scope.resolve(PROMETHEUS).metricsOf(component),
    dataDir,
  };
}

function deadLetters(scope: DependencyContainer, { dataDir, deadLetterLimits }: AgentSetup): DeadLetters {
  const limits = deadLetterLimits ?? { days: 0, bytes: 0 };
  const log = scope.resolve(LOGGERS).of("dead-letters");
  return new DeadLetters(path.join(dataDir, kernelFiles.deadLetters), { limits, clock: scope.resolve(CLOCK), log });
}
