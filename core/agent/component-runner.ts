import type { DeadLetters } from "../pipeline/dead-letters/dead-letters.js";
import type { Ledger } from "../pipeline/ledger.js";
import { withinGrace } from "../pipeline/within-limit.js";
import { type Lifecycle, type Logger, reasonOf } from "../sdk/index.js";
import {
  type Assembly,
  type Running,
  type RunningChannel,
  type RunningSink,
  type RunningSource,
  startComponent,
} from "./component.js";
import { Handovers } from "./handovers.js";

export interface ComponentRunnerParts {
  readonly ledger: Ledger;
  readonly deadLetters: Pick<DeadLetters, "ids">;
  readonly log: Logger;
}

/** The components of an agent, and how one of them is started, stopped, let in and let go. */
export class ComponentRunner {
  readonly log: Logger;
  readonly #ledger: Ledger;
  readonly #deadLetters: ComponentRunnerParts["deadLetters"];
  readonly #handovers: Handovers;
  #assembly: Assembly;
  /** Sources that were told to stop; one that still starts then must be told again. */
  readonly #stopped = new WeakSet<RunningSource>();

  constructor(assembly: Assembly, { ledger, deadLetters, log }: ComponentRunnerParts) {
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

  async startChannel(running: RunningChannel): Promise<void> {
    if (running.channel.durable) this.#ledger.resume(running.name);
    await startComponent(running, running.channel);
    // They may not have left the channel when the process ended, or the channel before was closed.
    if (running.channel.durable) await running.outlet.leaveOut(this.#deadLetters.ids());
  }

  async startSink(running: RunningSink): Promise<void> {
    await running.replayed.start();
    await startComponent(running, running.sink);
    running.feed.start();
  }

  async startSource(running: RunningSource): Promise<void> {
    for (const interceptor of running.interceptors) await interceptor.start?.();
    this.#handovers.offer(running);
    await startComponent(running, running.source);
    this.#handovers.started(running);
  }

  /** Stops a source that is replaced; what it hands over waits for one of its successors. */
  async replaceSource(running: RunningSource, successors: readonly RunningSource[], grace: AbortSignal): Promise<void> {
    await this.#handovers.from(running, successors, grace);
    await this.stopSource(running, grace);
  }

  /** Closes what replaced sources handed over and nobody took. */
  async closeHandovers(): Promise<void> {
    await this.#handovers.close();
  }

  async stopSource(running: RunningSource, grace: AbortSignal): Promise<void> {
    this.#stopped.add(running);
    await this.#stop(running, running.source, grace);
    running.receiver.stop();
    running.processor.stop();
    for (const interceptor of running.interceptors) {
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
      this.log.error({ component, reason: reasonOf(error) }, "component did not stop cleanly");
    }
  }
}
