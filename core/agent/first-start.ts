import { allEnded, heardByMany, withinLimit } from "../pipeline/supervision.js";
import { AgentError, codeOf, type Logger, reasonOf } from "../sdk/index.js";
import type { Running, RunningChannel, RunningSink, RunningSource } from "./component.js";
import type { ComponentRunner } from "./component-runner.js";

interface StartLimits {
  /** Milliseconds that the start of a source or sink may take; 0 is no limit. */
  readonly milliseconds: number;
  /** Aborts when the agent is asked to stop. */
  readonly stopRequested: AbortSignal;
  readonly log: Logger;
}

/**
 * The first start of an agent, in which no source or sink that hangs keeps the others from working. A start that fails
 * ends it; so does a stop that is asked for, whatever hangs.
 */
export class FirstStart {
  readonly #runner: ComponentRunner;
  readonly #limits: StartLimits;

  constructor(runner: ComponentRunner, limits: StartLimits) {
    this.#runner = runner;
    this.#limits = { ...limits, stopRequested: heardByMany(limits.stopRequested) };
  }

  /** Waits as long as it takes: nothing works without its channel, and reading one from disk may take long. */
  async channel(running: RunningChannel): Promise<void> {
    await this.#within(0, running, this.#runner.startChannel(running));
  }

  /** Side by side, because a store that does not answer takes long. */
  async sinks(all: readonly RunningSink[]): Promise<void> {
    await allEnded(all.map((running) => this.#sink(running)));
  }

  /** A sink that hangs was stopped; the next batch starts another one. */
  async #sink(running: RunningSink): Promise<void> {
    try {
      // The sink has the limit itself, so that it can stop what hangs.
      await this.#within(0, running, this.#runner.startSink(running));
    } catch (error) {
      if (codeOf(error) !== "TIMED_OUT") throw error;
      this.#goOn(running, error);
      running.feed.start();
    }
  }

  /** A source that hangs may go on: when it has started after all, it is there. */
  async source(running: RunningSource): Promise<void> {
    const starting = this.#runner.startSource(running);
    try {
      await this.#within(this.#limits.milliseconds, running, starting);
    } catch (error) {
      if (codeOf(error) !== "TIMED_OUT") throw error;
      this.#goOn(running, error);
      void this.#late(running, starting);
    }
  }

  async #within(milliseconds: number, { name }: Running, starting: Promise<void>): Promise<void> {
    const { stopRequested: signal } = this.#limits;
    try {
      await withinLimit(() => starting, { what: `starting "${name}"`, milliseconds, signal });
    } catch (cause) {
      if (!signal.aborted) throw cause;
      throw new AgentError("START_GIVEN_UP", `starting "${name}": a stop was asked for`, { cause, retryable: false });
    }
  }

  #goOn(running: Running, error: unknown): void {
    running.status = "ERROR";
    const fields = { affected: running.name, reason: reasonOf(error) };
    this.#limits.log.error(fields, "component does not start; the others do their work without it");
  }

  async #late(running: RunningSource, starting: Promise<void>): Promise<void> {
    const { log } = this.#limits;
    const affected = running.name;
    try {
      await starting;
      if (this.#runner.hasStopped(running)) await this.#runner.stopSource(running, AbortSignal.abort());
      else log.info({ affected }, "component started late");
    } catch (error) {
      log.error({ affected, reason: reasonOf(error) }, "component did not start");
    }
  }
}
