import "reflect-metadata";
import { container, type DependencyContainer, type InjectionToken, instanceCachingFactory } from "tsyringe";
import type { Topology } from "../configuration/topology.js";
import { CLOCK, LOGGERS, type Loggers } from "../tokens.js";
import { Agent } from "./agent.js";
import { assemble } from "./assemble.js";
import { Statistics } from "./statistics.js";

export const AGENT: InjectionToken<Agent> = Symbol("Agent");
export const STATISTICS: InjectionToken<Statistics> = Symbol("Statistics");

export interface AgentSetup {
  readonly topology: Topology;
  readonly dataDir: string;
  readonly loggers: Loggers;
}

/** A container of its own for one agent: everything is asked for by token, nothing is global. */
export function agentContainer({ topology, dataDir, loggers }: AgentSetup): DependencyContainer {
  const own = container.createChildContainer();
  own.register(CLOCK, { useValue: { now: () => new Date() } });
  own.register(LOGGERS, { useValue: loggers });
  own.register(AGENT, {
    useFactory: instanceCachingFactory((scope) => {
      const parts = { loggers: scope.resolve(LOGGERS), clock: scope.resolve(CLOCK), dataDir };
      const assembly = assemble(topology, parts);
      return new Agent({ name: topology.agent, assembly, dataDir, log: parts.loggers.of("agent") });
    }),
  });
  own.register(STATISTICS, { useFactory: instanceCachingFactory((scope) => new Statistics(scope.resolve(AGENT))) });
  return own;
}
