import "reflect-metadata";
import path from "node:path";
import { container, type DependencyContainer, type InjectionToken, instanceCachingFactory } from "tsyringe";
import { managementProperties } from "../configuration/schema/kernel-properties.js";
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
import { type AssemblyParts, assemble } from "./assemble.js";
import { Certificates } from "./certificates.js";
import { partsOf } from "./component.js";
import { plainContextOf } from "./create-component.js";
import { DeadLetterReplay } from "./dead-letter-replay.js";
import { kernelFiles } from "./kernel-files.js";
import { LetterReplays } from "./letter-replays.js";
import { observed } from "./observed.js";
import { Readiness } from "./readiness.js";
import { RecentActivity } from "./recent-activity.js";
import { Reload } from "./reload.js";
import { Statistics } from "./statistics.js";
import { UsedFolders } from "./used-folders.js";
import { Verifier } from "./verifier.js";
import { ARRIVALS, registerViews } from "./views.js";

export const AGENT: InjectionToken<Agent> = Symbol("Agent");
export const STATISTICS: InjectionToken<Statistics> = Symbol("Statistics");
export const DEAD_LETTERS: InjectionToken<DeadLetters> = Symbol("DeadLetters");
const CRASH_WATCH: InjectionToken<CrashWatch> = Symbol("CrashWatch");
export const LEDGER: InjectionToken<Ledger> = Symbol("Ledger");
export const DEAD_LETTER_REPLAY: InjectionToken<DeadLetterReplay> = Symbol("DeadLetterReplay");
export const LETTER_REPLAYS: InjectionToken<LetterReplays> = Symbol("LetterReplays");
export const METRICS: InjectionToken<TransactionMetrics> = Symbol("TransactionMetrics");
export const PROMETHEUS: InjectionToken<Prometheus> = Symbol("Prometheus");
export const READINESS: InjectionToken<Readiness> = Symbol("Readiness");
const QUOTAS: InjectionToken<QuotaBooks> = Symbol("QuotaBooks");
const ERASURES: InjectionToken<Erasures> = Symbol("Erasures");
export const AGENT_ERASURE: InjectionToken<AgentErasure> = Symbol("AgentErasure");
export const CERTIFICATES: InjectionToken<Certificates> = Symbol("Certificates");
const FOLDERS: InjectionToken<UsedFolders> = Symbol("UsedFolders");
const ACTIVITY: InjectionToken<RecentActivity> = Symbol("RecentActivity");
export const VERIFIER: InjectionToken<Verifier> = Symbol("Verifier");
export const RELOAD: InjectionToken<Reload> = Symbol("Reload");

export interface AgentSetup {
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
export function agentContainer(setup: AgentSetup): DependencyContainer {
  const { topology, dataDir, loggers, watching = usualWatching } = setup;
  const own = container.createChildContainer();
  own.register(CLOCK, { useValue: systemClock });
  own.register(LOGGERS, { useValue: loggers });
  own.register(DEAD_LETTERS, { useFactory: instanceCachingFactory((scope) => deadLetters(scope, setup)) });
  own.register(LEDGER, {
    useFactory: instanceCachingFactory(
      (scope) => new Ledger(path.join(dataDir, kernelFiles.ledger), scope.resolve(LOGGERS).of("ledger")),
    ),
  });
  own.register(CRASH_WATCH, {
    useFactory: instanceCachingFactory(() => new CrashWatch(path.join(dataDir, kernelFiles.inHand))),
  });
  own.register(QUOTAS, { useFactory: instanceCachingFactory(() => new QuotaBooks()) });
  own.register(ERASURES, {
    useFactory: instanceCachingFactory(() => new Erasures(path.join(dataDir, kernelFiles.erasures))),
  });
  registerWatchers(own, watching);
  own.register(AGENT, {
    useFactory: instanceCachingFactory((scope) => {
      const parts = assemblyParts(scope, setup);
      const assembly = assemble(topology, parts);
      const agent = new Agent({ ...parts, name: topology.agent, assembly, log: parts.loggers.of("agent") });
      const readings = observed(agent, {
        ...parts,
        activity: scope.resolve(ACTIVITY),
        folders: scope.resolve(FOLDERS),
        conditions: () => scope.resolve(READINESS).conditions(),
        certificates: () => scope.resolve(CERTIFICATES).states,
        limitBytes: setup.deadLetterLimits?.bytes ?? 0,
      });
      scope.resolve(PROMETHEUS).observe(readings);
      const { tracing } = setup;
      if (tracing !== undefined) scope.resolve(PROMETHEUS).observeTracing(() => tracing.counts);
      return agent;
    }),
  });
  own.register(FOLDERS, { useFactory: instanceCachingFactory(() => new UsedFolders(dataDir)) });
  own.register(CERTIFICATES, {
    useFactory: instanceCachingFactory((scope) => new Certificates(() => partsOf(scope.resolve(AGENT).assembly))),
  });
  own.register(STATISTICS, {
    useFactory: instanceCachingFactory(
      (scope) =>
        new Statistics({
          agent: scope.resolve(AGENT),
          ledger: scope.resolve(LEDGER),
          letters: scope.resolve(DEAD_LETTERS),
          readiness: scope.resolve(READINESS),
          reloads: scope.resolve(RELOAD),
          clock: scope.resolve(CLOCK),
        }),
    ),
  });
  registerViews(own, dataDir, (scope) => ({
    agent: scope.resolve(AGENT),
    ledger: scope.resolve(LEDGER),
    letters: scope.resolve(DEAD_LETTERS),
    readiness: scope.resolve(READINESS),
    reloads: scope.resolve(RELOAD),
    clock: scope.resolve(CLOCK),
  }));
  own.register(VERIFIER, {
    useFactory: instanceCachingFactory((scope) => {
      const letters = scope.resolve(DEAD_LETTERS);
      const log = scope.resolve(LOGGERS).of("ledger");
      return new Verifier({ agent: scope.resolve(AGENT), ledger: scope.resolve(LEDGER), letters, log });
    }),
  });
  own.register(DEAD_LETTER_REPLAY, {
    useFactory: instanceCachingFactory((scope) => {
      const parts = assemblyParts(scope, setup);
      const { deadLetters: letters } = parts;
      return new DeadLetterReplay({
        agent: scope.resolve(AGENT),
        letters,
        contextOf: (sink) => plainContextOf(sink, parts),
      });
    }),
  });
  own.register(AGENT_ERASURE, {
    useFactory: instanceCachingFactory((scope) => {
      const common = { agent: scope.resolve(AGENT), letters: scope.resolve(DEAD_LETTERS), clock: scope.resolve(CLOCK) };
      const log = scope.resolve(LOGGERS).of("erasure");
      return new AgentErasure({ ...common, erasures: scope.resolve(ERASURES), log });
    }),
  });
  own.register(LETTER_REPLAYS, {
    useFactory: instanceCachingFactory((scope) => {
      const parts = { deadLetterReplay: scope.resolve(DEAD_LETTER_REPLAY), letters: scope.resolve(DEAD_LETTERS) };
      const log = scope.resolve(LOGGERS).of("dead-letters");
      return new LetterReplays({ ...parts, activity: scope.resolve(ACTIVITY), clock: scope.resolve(CLOCK), log });
    }),
  });
  own.register(RELOAD, {
    useFactory: instanceCachingFactory((scope) => {
      const parts = assemblyParts(scope, setup);
      const log = parts.loggers.of("reload");
      const ended = (ok: boolean, time: Date) => {
        const names = partsOf(scope.resolve(AGENT).assembly).map(({ name }) => name);
        scope.resolve(PROMETHEUS).keepMetricsOf(new Set(names));
        scope.resolve(PROMETHEUS).reloaded(ok, time);
        void scope.resolve(CERTIFICATES).read();
      };
      return new Reload({ agent: scope.resolve(AGENT), topology, parts, log, ended });
    }),
  });
  return own;
}

/** What looks on while the agent works. */
function registerWatchers(own: DependencyContainer, { stallThreshold, metricsServices }: Watching): void {
  own.register(METRICS, { useValue: new TransactionMetrics(metricsServices) });
  own.register(ACTIVITY, { useFactory: instanceCachingFactory((scope) => new RecentActivity(scope.resolve(CLOCK))) });
  own.register(PROMETHEUS, { useValue: new Prometheus(metricsServices) });
  own.register(READINESS, {
    useFactory: instanceCachingFactory((scope) => {
      const agent = scope.resolve(AGENT);
      const parts = { activity: scope.resolve(ACTIVITY), clock: scope.resolve(CLOCK) };
      return new Readiness({ ...parts, agent, stallSeconds: stallThreshold });
    }),
  });
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
