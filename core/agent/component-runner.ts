import type { DeadLetters } from "../pipeline/dead-letters/dead-letters.js";
import type { Ledger } from "../pipeline/ledger.js";
import { withinGrace } from "../pipeline/supervision.js";
import { type Handover, type Interceptor, type Lifecycle, type Logger, onAbort, reasonOf } from "../sdk/index.js";
import {
  type Assembly,
  named,
  type Running,
  type RunningChannel,
  type RunningSink,
  type RunningSource,
  startComponent,
} from "./component.js";

interface ComponentRunnerParts {
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
    for (const [at, interceptor] of running.interceptors.entries()) await startInterceptor(running, at, interceptor);
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

  async stopSource(running: RunningSource, grace: AbortSignal): Promise<void> {
    this.#stopped.add(running);
    // What waits for an interceptor may still be accepted, until the grace period is over.
    const forget = onAbort(grace, () => running.processor.abandon());
    await this.#stop(running, running.source, grace);
    forget();
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
      this.log.error({ affected: component, reason: reasonOf(error) }, "component did not stop cleanly");
    }
  }
}

async function startInterceptor({ node }: RunningSource, at: number, interceptor: Interceptor): Promise<void> {
  try {
    await interceptor.start?.();
  } catch (error) {
    const own = node.interceptors[at];
    throw own === undefined ? error : named(error, { name: `${node.name}.${own.name}`, node: own });
  }
}

/** A source, and which plugin it is of. */
type Owner = Pick<RunningSource, "name" | "source"> & { readonly node: Pick<RunningSource["node"], "definition"> };

/** What one replaced source left. */
interface Left {
  readonly from: Owner;
  readonly handover: Handover;
}

/**
 * What replaced sources left open, from the moment they hand it over until a successor has started with it. While a
 * start may still fail nothing is closed, so that the source before can go on with the same socket.
 */
export class Handovers {
  readonly #log: Logger;
  #left: readonly Left[] = [];
  readonly #taken = new WeakMap<Owner, Left>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Lets a source hand over, where one of its successors can take what it has open. */
  async from(source: Owner, successors: readonly Owner[], grace: AbortSignal): Promise<void> {
    const isHeir = (next: Owner) => next.source.takeOver !== undefined && isSameKind(source, next);
    if (source.source.handOver === undefined || !successors.some(isHeir)) return;
    const handing = handedOver(source, grace);
    try {
      const handover = await withinGrace(handing, source.name, grace);
      if (handover !== undefined) this.#left = [...this.#left, { from: source, handover }];
    } catch (error) {
      this.#log.error({ affected: source.name, reason: reasonOf(error) }, "source did not hand over");
      // What still comes is not for anybody.
      void handing.then((late) => late?.close()).catch(() => undefined);
    }
  }

  /** Offers what is left to a source that is about to start, that of the source of the same name first. */
  offer(next: Owner): void {
    const fitting = this.#left.filter(({ from }) => isSameKind(from, next));
    const own = fitting.filter(({ from }) => from.name === next.name);
    const others = fitting.filter(({ from }) => from.name !== next.name);
    const taken = [...own, ...others].find(({ handover }) => next.source.takeOver?.(handover) === true);
    if (taken !== undefined) this.#taken.set(next, taken);
  }

  /** The source has started: what it took is its own. */
  started(source: Owner): void {
    const taken = this.#taken.get(source);
    this.#left = this.#left.filter((one) => one !== taken);
  }

  /** Closes what nobody took. */
  async close(): Promise<void> {
    const left = this.#left;
    this.#left = [];
    for (const { from, handover } of left) {
      try {
        await handover.close();
      } catch (error) {
        this.#log.error({ affected: from.name, reason: reasonOf(error) }, "closing what a replaced source left failed");
      }
    }
  }
}

async function handedOver({ source }: Owner, grace: AbortSignal): Promise<Handover | undefined> {
  return await source.handOver?.(grace);
}

function isSameKind(one: Owner, other: Owner): boolean {
  return one.node.definition === other.node.definition;
}
