import "reflect-metadata";
import path from "node:path";
import { container, type DependencyContainer, type InjectionToken, instanceCachingFactory } from "tsyringe";
import type { Topology } from "../configuration/topology.js";
import { type DeadLetterLimits, DeadLetters } from "../pipeline/dead-letters.js";
import { Ledger } from "../pipeline/ledger.js";
import { CLOCK, LOGGERS, type Loggers } from "../tokens.js";
import { Agent } from "./agent.js";
import { type AssemblyParts, assemble } from "./assemble.js";
import { LetterDesk } from "./letter-desk.js";
import { Reload } from "./reload.js";
import { Statistics } from "./statistics.js";

export const AGENT: InjectionToken<Agent> = Symbol("Agent");
export const STATISTICS: InjectionToken<Statistics> = Symbol("Statistics");
export const DEAD_LETTERS: InjectionToken<DeadLetters> = Symbol("DeadLetters");
export const LEDGER: InjectionToken<Ledger> = Symbol("Ledger");
export const LETTER_DESK: InjectionToken<LetterDesk> = Symbol("LetterDesk");
export const RELOAD: InjectionToken<Reload> = Symbol("Reload");

/** Names of what the kernel keeps in the data directory. */
export const kernelFiles = { deadLetters: "dead-letters", ledger: "ledger.json" } as const;

export interface AgentSetup {
  readonly topology: Topology;
  readonly dataDir: string;
  readonly loggers: Loggers;
  /** No limits when absent. */
  readonly deadLetterLimits?: DeadLetterLimits;
}

/** A container of its own for one agent: everything is asked for by token, nothing is global. */
export function agentContainer(setup: AgentSetup): DependencyContainer {
  const { topology, dataDir, loggers } = setup;
  const own = container.createChildContainer();
  own.register(CLOCK, { useValue: { now: () => new Date() } });
  own.register(LOGGERS, { useValue: loggers });
  own.register(DEAD_LETTERS, { useFactory: instanceCachingFactory((scope) => deadLetters(scope, setup)) });
  own.register(LEDGER, {
    useFactory: instanceCachingFactory(
      (scope) => new Ledger(path.join(dataDir, kernelFiles.ledger), scope.resolve(LOGGERS).of("ledger")),
    ),
  });
  own.register(AGENT, {
    useFactory: instanceCachingFactory((scope) => {
      const parts = assemblyParts(scope, dataDir);
      const assembly = assemble(topology, parts);
      return new Agent({ ...parts, name: topology.agent, assembly, log: parts.loggers.of("agent") });
    }),
  });
  own.register(STATISTICS, {
    useFactory: instanceCachingFactory((scope) => new Statistics(scope.resolve(AGENT), scope.resolve(LEDGER))),
  });
  own.register(LETTER_DESK, {
    useFactory: instanceCachingFactory((scope) => new LetterDesk(scope.resolve(AGENT), scope.resolve(DEAD_LETTERS))),
  });
  own.register(RELOAD, {
    useFactory: instanceCachingFactory((scope) => {
      const parts = assemblyParts(scope, dataDir);
      return new Reload({ agent: scope.resolve(AGENT), topology, parts, log: parts.loggers.of("reload") });
    }),
  });
  return own;
}

function assemblyParts(scope: DependencyContainer, dataDir: string): AssemblyParts {
  return {
    loggers: scope.resolve(LOGGERS),
    clock: scope.resolve(CLOCK),
    deadLetters: scope.resolve(DEAD_LETTERS),
    ledger: scope.resolve(LEDGER),
    dataDir,
  };
}

function deadLetters(scope: DependencyContainer, { dataDir, deadLetterLimits }: AgentSetup): DeadLetters {
  const limits = deadLetterLimits ?? { days: 0, bytes: 0 };
  const log = scope.resolve(LOGGERS).of("dead-letters");
  return new DeadLetters(path.join(dataDir, kernelFiles.deadLetters), { limits, clock: scope.resolve(CLOCK), log });
}
