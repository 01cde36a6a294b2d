import type { ComponentNode } from "../configuration/topology.js";
import { fullTables, OPEN_FILES_REMEDY } from "../files/refused-access.js";
import type { CountedChannel } from "../pipeline/counted-channel.js";
import type { DeadLetters } from "../pipeline/dead-letters/dead-letters.js";
import { LetterFollower } from "../pipeline/dead-letters/letter-follower.js";
import type { Erasures } from "../pipeline/erasures.js";
import type { Ledger } from "../pipeline/ledger.js";
import { withinGrace } from "../pipeline/supervision.js";
import { thrownCause } from "../sdk/causes.js";
import { AgentError, codeOf, type Lifecycle, type Logger, onAbort, reasonOf, retryableOf } from "../sdk/index.js";
import { noteCompared } from "./compared.js";
import {
  type Assembly,
  keeperOf,
  type Running,
  type RunningChannel,
  type RunningInterceptor,
  type RunningSink,
  type RunningSource,
  without,
} from "./component.js";
import { Handovers } from "./handovers.js";

interface ComponentRunnerParts {
  readonly ledger: Ledger;
  readonly deadLetters: DeadLetters;
  readonly erasures: Erasures;
  readonly log: Logger;
}

/** The components of an agent, and how one of them is started, stopped, let in and let go. */
export class ComponentRunner {
  readonly log: Logger;
  readonly #ledger: Ledger;
  readonly #deadLetters: ComponentRunnerParts["deadLetters"];
  readonly #erasures: Erasures;
  readonly #handovers: Handovers;
  #assembly: Assembly;
  /** Sources that were told to stop; one that still starts then must be told again. */
  readonly #stopped = new WeakSet<RunningSource>();
  readonly #followers = new Map<CountedChannel, LetterFollower>();
  #followsLetters = false;

  constructor(assembly: Assembly, { ledger, deadLetters, erasures, log }: ComponentRunnerParts) {
    this.#erasures = erasures;
    this.#assembly = assembly;
    this.#ledger = ledger;
    this.#deadLetters = deadLetters;
    this.log = log;
    this.#handovers = new Handovers(log);
  }

  get assembly(): Assembly {
    return this.#assembly;
  }

  /** From now on these are the components. */
  become(assembly: Assembly): void {
    this.#assembly = assembly;
  }

  /** These run now, too. */
  add({ sources = [], channels = [], sinks = [] }: Partial<Assembly>): void {
    const { assembly } = this;
    this.become({
      sources: [...assembly.sources, ...sources],
      channels: [...assembly.channels, ...channels],
      sinks: [...assembly.sinks, ...sinks],
    });
  }

  /** These run no longer. */
  remove(gone: readonly Running[]): void {
    this.become(without(this.assembly, gone));
  }

  /** Called when the channels of these components have started, and before their sinks do. */
  noteCompared(assembly: Assembly): void {
    noteCompared(assembly, this.#ledger);
  }

  async startChannel(running: RunningChannel): Promise<void> {
    if (running.channel.durable) this.#ledger.resume(running.name);
    await startComponent(running, running.channel);
    if (running.channel.sharesLetters) {
      if (this.#followsLetters) await this.followLetters(running);
      return;
    }
    // They may not have left the channel when the process ended, or the channel before was closed.
    if (running.channel.durable) await running.outlet.leaveOut(this.#deadLetters.ids());
  }

  /**
   * Takes part in the dead letters that agents share, where the channel has such; once those of this agent are read. Nobody
   * takes from the channel before they are followed: its log may be opened later. Channels that start later do it themselves.
   */
  async followLetters({ name, channel, outlet, reported }: RunningChannel): Promise<void> {
    this.#followsLetters = true;
    if (!channel.sharesLetters) return;
    const { log } = this;
    const letters = this.#deadLetters;
    const follower = new LetterFollower({
      shared: () => channel.letters,
      summary: () => channel.log(),
      opened: ({ id }) => this.#ledger.keptIn(name, id),
      letters,
      erasures: this.#erasures,
      log,
      report: reported.of("shared dead letters"),
    });
    this.#followers.set(channel, follower);
    outlet.letters = follower;
    for (const sink of this.#assembly.sinks) if (sink.channel === channel) await follower.add(keeperOf(sink));
    const ticket = outlet.gate.join();
    void follower
      .start()
      .then((isFollowed) => (isFollowed ? outlet.leaveOut(letters.ids()) : undefined))
      .catch((error: unknown) => log.error({ channel: name, reason: reasonOf(error) }, "dead letters cannot be read"))
      .finally(() => ticket.leave());
  }

  /** Resolves when the agents that share channels with this one can know all its erasures. */
  async shareErasures(): Promise<void> {
    for (const follower of this.#followers.values()) await follower.shareErasures();
  }

  async startSink(running: RunningSink): Promise<void> {
    await this.#followers.get(running.channel)?.add(keeperOf(running));
    await running.replayed.start();
    await startComponent(running, running.sink);
    running.feed.start();
  }

  async startSource(running: RunningSource): Promise<void> {
    for (const interceptor of running.interceptors) await startInterceptor(interceptor);
    this.#handovers.offer(running);
    await startComponent(running, running.source);
    this.#handovers.started(running);
  }

  /** Stops a source that is replaced; what it hands over waits for one of its successors. */
  async replaceSource(running: RunningSource, successors: readonly RunningSource[], grace: AbortSignal): Promise<void> {
    const forget = onAbort(grace, () => running.processor.abandon());
    try {
      await this.#handovers.from(running, successors, grace);
    } finally {
      forget();
    }
    await this.stopSource(running, grace);
  }

  /** Closes what replaced sources handed over and nobody took. */
  async closeHandovers(): Promise<void> {
    await this.#handovers.close();
  }

  /** When the grace period is over it has until `last` to answer what was abandoned by then. */
  async stopSource(running: RunningSource, grace: AbortSignal, last: AbortSignal = grace): Promise<void> {
    this.#stopped.add(running);
    // What waits for an interceptor may still be accepted, until the grace period is over.
    const forget = onAbort(grace, () => running.processor.abandon());
    await this.#stop(running, running.source, last);
    forget();
    running.receiver.stop();
    running.processor.stop();
    for (const { interceptor } of running.interceptors) {
      await this.#tryToStop(running.name, async (signal) => interceptor.stop?.(signal), grace);
    }
  }

  hasStopped(running: RunningSource): boolean {
    return this.#stopped.has(running);
  }

  /** Its feed has ended before, or never began; then it may not begin later either, nor keep others waiting. */
  async stopSink(running: RunningSink, grace: AbortSignal): Promise<void> {
    await running.feed.halt(grace);
    await this.#stop(running, running.sink, grace);
  }

  async stopChannel(running: RunningChannel, grace: AbortSignal): Promise<void> {
    const follower = this.#followers.get(running.channel);
    this.#followers.delete(running.channel);
    if (follower !== undefined) await this.#tryToStop(running.name, () => follower.stop(), grace);
    await this.#stop(running, running.channel, grace);
  }

  async #stop(running: Running, lifecycle: Lifecycle, grace: AbortSignal): Promise<void> {
    await this.#tryToStop(running.name, async (signal) => lifecycle.stop(signal), grace);
    if (running.status === "START") running.status = "STOP";
  }

  async #tryToStop(component: string, stop: (grace: AbortSignal) => Promise<void>, grace: AbortSignal): Promise<void> {
    try {
      await withinGrace(stop(grace), component, grace);
    } catch (error) {
      this.log.error({ affected: component, reason: reasonOf(error) }, "component did not stop cleanly");
    }
  }
}

async function startInterceptor({ interceptor, node }: RunningInterceptor): Promise<void> {
  try {
    await interceptor.start?.();
  } catch (error) {
    throw named(error, { name: node.name, node });
  }
}

interface Startable extends Running {
  readonly node: ComponentNode;
}

/** Starts a component and keeps its status. */
export async function startComponent(running: Startable, lifecycle: Lifecycle): Promise<void> {
  try {
    await lifecycle.start();
    running.status = "START";
  } catch (error) {
    running.status = "ERROR";
    throw named(error, running);
  }
}

/** Messages of strangers need not name their component. The code stays, because callers decide by it. */
export function named(error: unknown, { name, node }: Pick<Startable, "name" | "node">): unknown {
  const { kind, type } = node.definition;
  if (reasonOf(error).includes(`"${name}"`)) return error;
  const code = codeOf(error) ?? "COMPONENT_NOT_STARTED";
  const remedy = fullTables.includes(code) ? ` (${OPEN_FILES_REMEDY})` : "";
  return new AgentError(code, `starting ${kind} "${name}" of type "${type}"${remedy}`, {
    cause: thrownCause(error),
    retryable: retryableOf(error) ?? false,
  });
}
