import type { AgentCalls } from "./agent-calls.js";
import { CallFailure } from "./agent-calls.js";
import type { Role, Snapshot, Topology } from "./contract.js";
import { EventReader, type StreamEvent } from "./event-reader.js";
import { History } from "./history.js";
import { merged } from "./merge-patch.js";
import type { Session } from "./session.js";
import { Watched } from "./watched.js";

export type Connection =
  | { readonly state: "connecting" | "live" | "paused" | "waiting for a token" }
  | { readonly state: "lost"; readonly reason: string; readonly retryAt: number };

/** What is known of the agent now. */
interface LiveView {
  readonly connection: Connection;
  readonly snapshot?: Snapshot;
  readonly topology?: Topology;
}

interface AccessAnswer {
  readonly role: Role;
  readonly version: string;
  readonly started: string;
  readonly features: { readonly broker_targets?: readonly string[] };
}

/** Milliseconds without a message after which a connection counts as dead. */
const silence = 10_000;
const silent = new CallFailure("The agent has been silent for 10 seconds.", 0);
const firstPause = 500;
const longestPause = 10_000;

/** Follows the stream of the agent, and connects again when it ends, later after each failure in a row. */
export class LiveAgent extends Watched<LiveView> {
  readonly history = new History();
  readonly #calls: AgentCalls;
  readonly #session: Session;
  #failures = 0;
  /** The revision that the topology is of, and the one that it is being read for. */
  #described: number | undefined;
  #describing: number | undefined;
  #stop = new AbortController();

  constructor(calls: AgentCalls, session: Session) {
    super({ connection: { state: "connecting" } });
    this.#calls = calls;
    this.#session = session;
    session.watch(() => {
      if (session.value.role === "unknown") this.restart();
      if (session.value.role === "none") this.#forget();
    });
  }

  /** Connects, also when a connection or a pause is under way. */
  restart(): void {
    this.#stop.abort();
    this.#stop = new AbortController();
    this.#failures = 0;
    void this.#follow(this.#stop.signal);
  }

  get isPaused(): boolean {
    return this.value.connection.state === "paused";
  }

  /** Disconnects until it is restarted; what is shown stays. */
  pause(): void {
    if (this.value.connection.state === "waiting for a token") return;
    this.#stop.abort();
    this.#show({ connection: { state: "paused" } });
  }

  /** Shows nothing more of the agent: the reader has no right to it now. */
  #forget(): void {
    this.#stop.abort();
    this.history.clear();
    this.set({ connection: { state: "waiting for a token" } });
  }

  async #follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const failure = await this.#connection(signal);
      if (signal.aborted) return;
      // Proxies cut streams that last, some of them each half minute: it is lost when it does not come back.
      const isCut = this.#failures === 0 && this.value.connection.state === "live" && failure !== silent;
      const pause = Math.min(firstPause * 2 ** this.#failures, longestPause) * (0.8 + Math.random() * 0.4);
      this.#failures += 1;
      if (!isCut) this.#show({ connection: { state: "lost", reason: failure.message, retryAt: Date.now() + pause } });
      await paused(pause, signal);
    }
  }

  /** Reads the stream until it ends; resolves to why. */
  async #connection(outer: AbortSignal): Promise<CallFailure> {
    const inner = new AbortController();
    const signal = AbortSignal.any([outer, inner.signal]);
    const watch = new SilenceWatch(() => inner.abort());
    if (this.#failures === 0) this.#show({ connection: { state: "connecting" } });
    try {
      // A token that was just given is tried once: each wrong one delays the answers to the next.
      const isNew = this.#session.token !== undefined && this.#session.value.role === "unknown";
      if (isNew) await this.#readAccess(signal);
      this.#described = undefined;
      // At the same time: the first sight of the page waits for all three.
      const facts = Promise.all([isNew ? undefined : this.#readAccess(signal), this.#readTopology(signal)]);
      facts.catch(() => undefined);
      const read = this.#read(await this.#calls.stream("/v1/stream", signal), watch, signal);
      await Promise.all([facts, read]);
      return new CallFailure("The agent ended the stream.", 0);
    } catch (error) {
      if (error instanceof CallFailure) return error;
      return inner.signal.aborted ? silent : new CallFailure("The connection broke.", 0);
    } finally {
      watch.stop();
      inner.abort();
    }
  }

  async #readAccess(signal: AbortSignal): Promise<void> {
    const { role, version, started, features } = await this.#calls.ask<AccessAnswer>("GET", "/v1/access", { signal });
    this.#session.set({ role, version, started, brokerTargets: features.broker_targets ?? [] });
  }

  async #readTopology(signal: AbortSignal): Promise<void> {
    const { topology } = await this.#calls.ask<{ topology: Topology }>("GET", "/v1/topology", { signal });
    this.#show({ topology });
  }

  /** Reads the topology of a revision; when that fails, the next message asks for it again. */
  async #describe(revision: number, signal: AbortSignal): Promise<void> {
    if (this.#describing === revision) return;
    this.#describing = revision;
    try {
      await this.#readTopology(signal);
      this.#described = revision;
    } catch {
      // Not known yet.
    } finally {
      this.#describing = undefined;
    }
  }

  async #read(body: ReadableStream<BufferSource>, watch: SilenceWatch, signal: AbortSignal): Promise<void> {
    const events = new EventReader();
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      watch.heard();
      for (const event of events.take(value)) this.#take(event, signal);
    }
  }

  #take({ name, data }: StreamEvent, signal: AbortSignal): void {
    if (name === "snapshot") this.#arrived(JSON.parse(data), signal);
    const { snapshot } = this.value;
    if (name === "change" && snapshot !== undefined) this.#arrived(merged(snapshot, JSON.parse(data)), signal);
  }

  #arrived(snapshot: Snapshot, signal: AbortSignal): void {
    this.#failures = 0;
    const { revision } = snapshot.agent;
    this.#described ??= revision;
    if (revision !== this.#described) void this.#describe(revision, signal);
    this.history.add(snapshot);
    this.#show({ snapshot, connection: { state: "live" } });
  }

  #show(change: Partial<LiveView>): void {
    this.set({ ...this.value, ...change });
  }
}

/** Calls back once when nothing was heard for too long. */
class SilenceWatch {
  readonly #onSilence: () => void;
  #timer: ReturnType<typeof setTimeout>;

  constructor(onSilence: () => void) {
    this.#onSilence = onSilence;
    this.#timer = setTimeout(onSilence, silence);
  }

  heard(): void {
    this.stop();
    this.#timer = setTimeout(this.#onSilence, silence);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}

function paused(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
