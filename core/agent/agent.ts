import { mkdir } from "node:fs/promises";
import { AgentError, type Lifecycle, type Logger, reasonOf } from "../sdk/index.js";
import { type Assembly, type Running, startComponent } from "./component.js";
import { withinGrace } from "./within-grace.js";

export interface AgentParts {
  readonly name: string;
  readonly assembly: Assembly;
  readonly dataDir: string;
  readonly log: Logger;
}

/** Starts and stops the components of one agent in the order of the lifecycle law. */
export class Agent {
  readonly name: string;
  readonly assembly: Assembly;
  readonly #dataDir: string;
  readonly #log: Logger;

  constructor(parts: AgentParts) {
    this.name = parts.name;
    this.assembly = parts.assembly;
    this.#dataDir = parts.dataDir;
    this.#log = parts.log;
  }

  /** Starts channels, sinks, sources. When one fails, stops what was started and throws. */
  async start(graceMilliseconds: number): Promise<void> {
    try {
      await this.#startAll();
    } catch (error) {
      await this.stop(graceMilliseconds);
      throw error;
    }
    const { sources, channels, sinks } = this.assembly;
    const counts = { sources: sources.length, channels: channels.length, sinks: sinks.length };
    this.#log.info({ agent: this.name, ...counts }, "agent started");
  }

  /** Stops sources, drains sinks, stops channels; what is not done after the grace period is given up and reported. */
  async stop(graceMilliseconds: number): Promise<void> {
    const grace = new AbortController();
    const timer = setTimeout(() => grace.abort(), graceMilliseconds);
    const { sources, sinks, channels } = this.assembly;
    try {
      await Promise.all(sources.map((running) => this.#stop(running, running.source, grace.signal)));
      await Promise.all(sources.flatMap(({ interceptors }) => interceptors).map((one) => one.stop?.(grace.signal)));
      await Promise.all(sinks.map((running) => running.runner.drain(grace.signal)));
      await Promise.all(sinks.map((running) => this.#stop(running, running.sink, grace.signal)));
      for (const { name, channel } of channels) this.#reportLeft(name, channel.size);
      await Promise.all(channels.map((running) => this.#stop(running, running.channel, grace.signal)));
    } finally {
      clearTimeout(timer);
    }
    this.#log.info({ agent: this.name }, "agent stopped");
  }

  async #startAll(): Promise<void> {
    const { sources, sinks, channels } = this.assembly;
    await makeFolder(this.#dataDir);
    for (const running of channels) await startComponent(running, running.channel);
    for (const running of sinks) {
      await startComponent(running, running.sink);
      running.runner.start();
    }
    for (const running of sources) {
      for (const interceptor of running.interceptors) await interceptor.start?.();
      await startComponent(running, running.source);
    }
  }

  async #stop(running: Running, lifecycle: Lifecycle, signal: AbortSignal): Promise<void> {
    try {
      await withinGrace(lifecycle.stop(signal), running.name, signal);
    } catch (error) {
      this.#log.error({ component: running.name, reason: reasonOf(error) }, "component did not stop cleanly");
    }
    if (running.status === "START") running.status = "STOP";
  }

  #reportLeft(channel: string, events: number): void {
    if (events > 0) this.#log.error({ channel, events }, "events left in the channel when the grace period ended");
  }
}

async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (cause) {
    const remedy = "give another folder with --data-dir or DENEB_DATA_DIR";
    throw new AgentError("DATA_DIR_UNUSABLE", `making the data directory "${folder}" (${remedy})`, { cause });
  }
}
