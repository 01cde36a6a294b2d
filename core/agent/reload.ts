import type { Topology } from "../configuration/topology.js";
import { type Logger, reasonOf } from "../sdk/index.js";
import type { Agent } from "./agent.js";
import { type AssemblyParts, assemble } from "./assemble.js";
import type { Assembly } from "./component.js";

export interface ReloadParts {
  readonly agent: Agent;
  /** What the agent was started with. */
  readonly topology: Topology;
  readonly parts: AssemblyParts;
  readonly log: Logger;
  /** Called with the outcome of each reload. */
  readonly ended?: (ok: boolean, time: Date) => void;
}

/** Brings a running agent from one topology to the next, touching only what differs. */
export class Reload {
  readonly #parts: ReloadParts;
  #topology: Topology;
  #last: { readonly ok: boolean; readonly time: Date } | undefined;

  constructor(parts: ReloadParts) {
    this.#parts = parts;
    this.#topology = parts.topology;
  }

  /** The outcome of the last reload; undefined before the first. */
  get last(): { readonly ok: boolean; readonly time: Date } | undefined {
    return this.#last;
  }

  /** A file that cannot be used ends a reload before anything is touched. */
  refused(): void {
    this.#end(false);
  }

  /** True when the agent now runs the topology; false when it could not, and runs what it ran before. */
  async to(topology: Topology, graceMilliseconds: number): Promise<boolean> {
    const ok = await this.#to(topology, graceMilliseconds);
    this.#end(ok);
    return ok;
  }

  #end(ok: boolean): void {
    const { parts, ended } = this.#parts;
    this.#last = { ok, time: parts.clock.now() };
    ended?.(ok, this.#last.time);
  }

  async #to(topology: Topology, graceMilliseconds: number): Promise<boolean> {
    const { agent, parts, log } = this.#parts;
    const before = agent.assembly;
    try {
      const next = assemble(topology, parts, before);
      const changes = changesBetween(before, next);
      if (changes === undefined) {
        this.#topology = topology;
        log.info({}, "configuration read again: no component differs");
        return true;
      }
      await agent.replace(next, graceMilliseconds);
      this.#topology = topology;
      log.info(changes, "configuration reloaded");
      return true;
    } catch (error) {
      log.error({ reason: reasonOf(error) }, "configuration not reloaded, going back to the one before");
      await this.#goBack(before, graceMilliseconds);
      return false;
    }
  }

  async #goBack(before: Assembly, graceMilliseconds: number): Promise<void> {
    const { agent, parts, log } = this.#parts;
    if (agent.assembly === before) return;
    try {
      await agent.replace(assemble(this.#topology, parts, agent.assembly), graceMilliseconds);
      log.info({}, "the configuration before runs again");
    } catch (error) {
      log.error({ reason: reasonOf(error) }, "the configuration before could not be started completely");
    } finally {
      await agent.closeHandovers();
    }
  }
}

function changesBetween(before: Assembly, next: Assembly): object | undefined {
  const kinds = ["sources", "channels", "sinks"] as const;
  const stopped = kinds.flatMap((kind) => namesMissing(before[kind], next[kind]));
  const started = kinds.flatMap((kind) => namesMissing(next[kind], before[kind]));
  return stopped.length + started.length === 0 ? undefined : { stopped, started };
}

function namesMissing(from: readonly { readonly name: string }[], other: readonly object[]): readonly string[] {
  return from.filter((running) => !other.includes(running)).map(({ name }) => name);
}
