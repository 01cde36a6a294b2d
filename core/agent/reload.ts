import type { Topology } from "../configuration/topology.js";
import { type Logger, reasonOf } from "../sdk/index.js";
import type { Agent } from "./agent.js";
import { assemble } from "./assemble.js";
import type { Assembly, LackingComponent } from "./component.js";
import type { AssemblyParts } from "./component-context.js";

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
  /** Why not all of the configuration runs; undefined when it does. */
  #lacking: string | undefined;

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

  /** Starts what could not be started when the agent went back; its reason may be gone. Touches nothing that runs. */
  async complete(graceMilliseconds: number, hurried?: AbortSignal): Promise<void> {
    if (this.#lacking !== undefined) await this.#startLacking(graceMilliseconds, hurried);
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
        this.#lacksNothing();
        log.info({}, "configuration read again: no component differs");
        return { outcome: "unchanged" };
      }
      await agent.replace(next, graceMilliseconds, { hurried });
      this.#topology = topology;
      this.#lacksNothing();
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
    if (this.#parts.agent.assembly !== before) await this.#startLacking(graceMilliseconds);
  }

  /** A reason that lasts is logged once. */
  async #startLacking(graceMilliseconds: number, hurried?: AbortSignal): Promise<void> {
    const { agent, parts, log } = this.#parts;
    try {
      const next = assemble(this.#topology, parts, agent.assembly);
      await agent.replace(next, graceMilliseconds, { hurried, goesBack: true });
      this.#lacksNothing();
      log.info({}, "the configuration before runs again");
    } catch (error) {
      const reason = reasonOf(error);
      if (reason !== this.#lacking) log.error({ reason }, "the configuration before could not be started completely");
      this.#lacking = reason;
      agent.lacks(lackingOf(agent, { topology: this.#topology, reason, now: parts.clock.now() }));
    } finally {
      await agent.closeHandovers();
    }
  }

  #lacksNothing(): void {
    this.#lacking = undefined;
    this.#parts.agent.lacks([]);
  }
}

interface FailedStart {
  readonly topology: Topology;
  readonly reason: string;
  readonly now: Date;
}

function lackingOf({ assembly, lacking }: Agent, { topology, reason, now }: FailedStart): readonly LackingComponent[] {
  const of = (kind: LackingComponent["kind"], wanted: Named, running: Named) =>
    wanted
      .filter(({ name }) => !running.some((one) => one.name === name))
      .map(({ name }) => {
        const before = lacking.find((one) => one.kind === kind && one.name === name);
        return { kind, name, reason, since: before?.since ?? now };
      });
  return [
    ...of("source", topology.sources, assembly.sources),
    ...of("channel", topology.channels, assembly.channels),
    ...of("sink", topology.sinks, assembly.sinks),
  ];
}

type Named = readonly { readonly name: string }[];

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
