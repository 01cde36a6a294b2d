import { setTimeout } from "node:timers/promises";
import { AGENT, agentContainer, DEAD_LETTERS, LEDGER, PROMETHEUS, READINESS, RELOAD } from "../agent/container.js";
import { faultText } from "../configuration/configuration-fault.js";
import { readConfiguration } from "../configuration/read-configuration.js";
import type { Topology } from "../configuration/topology.js";
import type { OpenLetter } from "../pipeline/dead-letters/dead-letters.js";
import { waitingIn } from "../pipeline/ledger-file.js";
import { counted } from "../sdk/counted.js";
import { AgentError, type Event, type HealthReport, type InboundRequest, type Reception } from "../sdk/index.js";
import { CLOCK, type Clock, type Loggers, type PluginCatalogue, type TransactionObserver } from "../tokens.js";

/** What a configuration is read from. */
interface ConfigurationSource {
  /** Text of a properties file. */
  readonly text: string;
  readonly catalogue: PluginCatalogue;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly readFile: (path: string) => string;
  /** Name of the agent, where the file holds several. */
  readonly agent?: string;
}

/** The topology of a text; throws with everything that is wrong with it. */
export function topologyOf(source: ConfigurationSource): Topology {
  const { topology, faults } = readConfiguration(source);
  if (topology !== undefined) return topology;
  const errors = faults.filter(({ severity }) => severity === "error").map(faultText);
  throw new AgentError("CONFIGURATION_INVALID", `reading the configuration: ${errors.join("; ")}`, {
    retryable: false,
  });
}

interface EmbeddedAgentParts {
  readonly topology: Topology;
  readonly dataDir: string;
  readonly loggers: Loggers;
  readonly clock: Clock;
  readonly observer?: Partial<TransactionObserver>;
}

/** A request without the time of its reception; what is absent is chosen for the handler. */
interface EmbeddedRequest extends Omit<InboundRequest, "path" | "receivedAt" | "topic"> {
  readonly path: string | undefined;
}

const graceMilliseconds = 1000;
const shortestPause = 1;
const longestPause = 50;

/** An agent without a process of its own, without a management interface and without anything that works by the hour. */
export class EmbeddedAgent {
  readonly #container: ReturnType<typeof agentContainer>;
  readonly #clock: Clock;
  #stopping: Promise<number> | undefined;

  constructor({ clock, observer = {}, ...setup }: EmbeddedAgentParts) {
    this.#clock = clock;
    this.#container = agentContainer({ ...setup, observer });
    this.#container.register(CLOCK, { useValue: clock });
  }

  async start(): Promise<void> {
    await this.#agent.start(graceMilliseconds);
  }

  /** Resolves to the number of events that were lost. */
  stop(): Promise<number> {
    this.#stopping ??= this.#agent.stop(graceMilliseconds);
    return this.#stopping;
  }

  /** False when it could not; then the topology before goes on. */
  async reload(topology: Topology): Promise<boolean> {
    this.#refuseIfStopped("reloading");
    return await this.#container.resolve(RELOAD).to(topology, graceMilliseconds);
  }

  /** Hands a request to the named source, or to the first one with a handler. */
  async receive(request: EmbeddedRequest, name?: string): Promise<Reception> {
    this.#refuseIfStopped("injecting a request");
    const { node, receiver } = this.#source(name, ({ handler }) => handler !== undefined, "a handler");
    const target = node.slots["handler"]?.config["notification_target"];
    const path = request.path ?? (typeof target === "string" ? target : "/notify");
    return await receiver.receive({ ...request, path, receivedAt: this.#clock.now() });
  }

  /** Puts events into the channels of the named source, or of the first one. */
  async emit(events: readonly Event[], name?: string): Promise<void> {
    this.#refuseIfStopped("putting events");
    await this.#source(name, () => true, "any").processor.emit(events);
  }

  /** Resolves to false when something still waits after these milliseconds, or when the signal aborts. */
  async settled(milliseconds: number, signal?: AbortSignal): Promise<boolean> {
    const end = performance.now() + milliseconds;
    for (let pause = shortestPause; this.waiting().length > 0; pause = Math.min(2 * pause, longestPause)) {
      if (performance.now() >= end || signal?.aborted === true) return false;
      await setTimeout(pause);
    }
    return true;
  }

  /** What became of the events of all channels since the start. */
  totals() {
    const states = this.#agent.assembly.channels.map(({ name }) => this.#container.resolve(LEDGER).account(name).state);
    const settled = states.flatMap(({ sinks }) => [...sinks.values()]);
    const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
    return {
      received: sum(states.map(({ received }) => received)),
      stored: sum(settled.map(({ stored }) => stored)),
      deadLetters: sum(settled.map((one) => one["dead-lettered"])),
      filtered: sum(settled.map(({ filtered }) => filtered)),
    };
  }

  /** What is in the channels, a sentence each. */
  waiting(): readonly string[] {
    const ledger = this.#container.resolve(LEDGER);
    return this.#agent.assembly.channels.flatMap(({ name, channel }) => {
      const events = Math.max(channel.size ?? 0, waitingIn(ledger.account(name).state));
      return events > 0 ? [`channel "${name}" holds ${counted(events, "event")}`] : [];
    });
  }

  /** What is wrong with each component that is not well, a sentence each. */
  complaints(): readonly string[] {
    return Object.entries(this.health()).flatMap(([name, { state, reason }]) =>
      state === "up" ? [] : [`"${name}" is ${state}: ${reason}`],
    );
  }

  /** As readiness says it, and what components report at once. */
  health(): Readonly<Record<string, Required<Omit<HealthReport, "lasting">>>> {
    const { sources, channels, sinks } = this.#agent.assembly;
    const reports = new Map([...sources, ...channels, ...sinks].map(({ name, reported }) => [name, reported.all]));
    const conditions = this.#container.resolve(READINESS).conditions();
    return Object.fromEntries(
      conditions.map(({ name, state, findings }) => {
        const reported = (reports.get(name) ?? []).map((one) => ({ ...one, reason: `${one.name}: ${one.reason}` }));
        const isDown = state === "down" || reported.some((one) => one.state === "down");
        const reasons = [...new Set([...findings, ...reported].map(({ reason }) => reason))];
        return [name, { state: isDown ? "down" : reasons.length > 0 ? "degraded" : "up", reason: reasons.join("; ") }];
      }),
    );
  }

  /** Those that wait, oldest first. */
  async deadLetters(): Promise<readonly OpenLetter[]> {
    const letters: OpenLetter[] = [];
    for await (const letter of this.#container.resolve(DEAD_LETTERS).open()) letters.push(letter);
    return letters;
  }

  async metrics(): Promise<string> {
    return await this.#container.resolve(PROMETHEUS).text();
  }

  get #agent() {
    return this.#container.resolve(AGENT);
  }

  #source(name: string | undefined, fits: (slots: Topology["sources"][number]["slots"]) => boolean, what: string) {
    const { sources } = this.#agent.assembly;
    const found = sources.find((source) => (name === undefined ? fits(source.node.slots) : source.name === name));
    if (found !== undefined) return found;
    const wanted = name === undefined ? `a source with ${what}` : `the source "${name}"`;
    const known = sources.map((source) => `"${source.name}"`).join(", ");
    throw new AgentError("UNKNOWN_SOURCE", `looking for ${wanted}; the sources are: ${known}`, { retryable: false });
  }

  #refuseIfStopped(doing: string): void {
    if (this.#stopping === undefined) return;
    throw new AgentError("AGENT_STOPPED", `${doing} after the agent was stopped`, { retryable: false });
  }
}
