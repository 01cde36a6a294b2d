import type { Topology } from "../configuration/topology.js";
import { type Logger, reasonOf } from "../sdk/index.js";
import type { Agent } from "./agent.js";
import { type AssemblyParts, assemble } from "./assemble.js";
import type { Assembly } from "./component.js";

interface ReloadParts {
  readonly agent: Agent;
  /** What the agent was started with. */
  readonly topology: Topology;
  readonly parts: AssemblyParts;
  readonly log: Logger;
  /** Called with the outcome of each reload. */
  readonly ended?: (ok: boolean, time: Date) => void;
}

/** What became of one reload. */
export interface ReloadEnd {
  readonly time: Date;
  readonly ok: boolean;
  /**
   * `unchanged`: no component differs; `refused`: the file has errors or cannot be read; `failed`: a component could not be
   * started, and the configuration before runs again.
   */
  readonly outcome: "reloaded" | "unchanged" | "refused" | "failed";
  /** Names of components, when some were replaced. */
  readonly stopped?: readonly string[];
  readonly started?: readonly string[];
  readonly reason?: string;
}

/** Brings a running agent from one topology to the next, touching only what differs. */
export class Reload {
  readonly #parts: ReloadParts;
  #topology: Topology;
  #last: ReloadEnd | undefined;

  constructor(parts: ReloadParts) {
    this.#parts = parts;
    this.#topology = parts.topology;
  }

  /** The outcome of the last reload; undefined before the first. */
  get last(): ReloadEnd | undefined {
    return this.#last;
  }

  /** A file that cannot be used ends a reload before anything is touched. */
  refused(): void {
    this.#end({ outcome: "refused" });
  }

  /**
   * True when the agent now runs the topology; false when it could not, and runs what it ran before. What is replaced has a few
   * seconds when `hurried` aborts.
   */
  async to(topology: Topology, graceMilliseconds: number, hurried?: AbortSignal): Promise<boolean> {
    return this.#end(await this.#to(topology, graceMilliseconds, hurried));
  }

  #end(end: Omit<ReloadEnd, "ok" | "time">): boolean {
    const { parts, ended } = this.#parts;
    const ok = end.outcome === "reloaded" || end.outcome === "unchanged";
    this.#last = { time: parts.clock.now(), ok, ...end };
    ended?.(ok, this.#last.time);
    return ok;
  }

  async #to(
    topology: Topology,
    graceMilliseconds: number,
    hurried: AbortSignal | undefined,
  ): Promise<Omit<ReloadEnd, "ok" | "time">> {
    const { agent, parts, log } = this.#parts;
    const before = agent.assembly;
    try {
      const next = assemble(topology, parts, before);
      const changes = changesBetween(before, next);
      if (changes === undefined) {
        this.#topology = topology;
        log.info({}, "configuration read again: no component differs");
        return { outcome: "unchanged" };
      }
      await agent.replace(next, graceMilliseconds, hurried);
      this.#topology = topology;
      log.info(changes, "configuration reloaded");
      return { outcome: "reloaded", ...changes };
    } catch (error) {
      const reason = reasonOf(error);
      log.error({ reason }, "configuration not reloaded, going back to the one before");
      await this.#goBack(before, graceMilliseconds);
      return { outcome: "failed", reason };
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

function changesBetween(
  before: Assembly,
  next: Assembly,
): Required<Pick<ReloadEnd, "stopped" | "started">> | undefined {
  const kinds = ["sources", "channels", "sinks"] as const;
  const stopped = kinds.flatMap((kind) => namesMissing(before[kind], next[kind]));
  const started = kinds.flatMap((kind) => namesMissing(next[kind], before[kind]));
  return stopped.length + started.length === 0 ? undefined : { stopped, started };
}

function namesMissing(from: readonly { readonly name: string }[], other: readonly object[]): readonly string[] {
  return from.filter((running) => !other.includes(running)).map(({ name }) => name);
}
