import { existsSync } from "node:fs";
import path from "node:path";
import { makeFolder } from "../files/make-folder.js";
import { SerialQueue } from "../files/serial-queue.js";
import type { CrashWatch } from "../pipeline/crash-watch.js";
import type { DeadLetters } from "../pipeline/dead-letters/dead-letters.js";
import type { Erasures } from "../pipeline/erasures.js";
import type { Ledger } from "../pipeline/ledger.js";
import { AgentError, codeOf, type Logger, onAbort, reasonOf } from "../sdk/index.js";
import type { Clock } from "../tokens.js";
import type { Assembly, LackingComponent } from "./component.js";
import { ComponentRunner } from "./component-runner.js";
import { drain, keepAtStop } from "./events-at-stop.js";
import { FirstStart } from "./first-start.js";
import { inPhases, nobodyAsks, type Phase, withGrace, withLast } from "./grace.js";
import { replaceComponents } from "./replace-components.js";

interface AgentParts {
  readonly name: string;
  readonly assembly: Assembly;
  readonly dataDir: string;
  readonly deadLetters: DeadLetters;
  readonly ledger: Ledger;
  readonly crashWatch: CrashWatch;
  readonly erasures: Erasures;
  readonly clock: Clock;
  readonly log: Logger;
  /** Seconds that the start of a source or sink may take at the start of the agent; absent or 0: without limit. */
  readonly startTimeout?: number;
}

interface ReplaceOptions {
  readonly hurried?: AbortSignal | undefined;
  /** True after a replacement that failed. */
  readonly goesBack?: boolean;
}

/** Starts and stops the components of one agent in the order of the lifecycle law. */
export class Agent {
  readonly name: string;
  /** Without the first assembly, of which nothing may be left after a reload that replaces it. */
  readonly #parts: Omit<AgentParts, "assembly">;
  readonly #log: Logger;
  readonly #runner: ComponentRunner;
  /** A stop waits for a replacement, a replacement for the one before. */
  readonly #changes = new SerialQueue();
  #lacking: readonly LackingComponent[] = [];

  constructor({ assembly, ...parts }: AgentParts) {
    this.name = parts.name;
    this.#parts = parts;
    this.#log = parts.log;
    this.#runner = new ComponentRunner(assembly, parts);
  }

  /** What runs now; a reload replaces some of it. */
  get assembly(): Assembly {
    return this.#runner.assembly;
  }

  /** What should run, too. */
  get lacking(): readonly LackingComponent[] {
    return this.#lacking;
  }

  /** Says what should run, too, and does not. */
  lacks(components: readonly LackingComponent[]): void {
    this.#lacking = components;
  }

  /**
   * Starts channels, sinks, sources. When one fails, stops what was started and throws; throws code `START_GIVEN_UP` when
   * a stop is requested before all have started. A source or sink that hangs is reported, and the others work without it.
   */
  async start(graceMilliseconds: number, stopRequested: AbortSignal = nobodyAsks): Promise<void> {
    try {
      await this.#startAll(stopRequested);
    } catch (error) {
      // The stop may take the whole grace period, and nothing else would say why it goes on.
      const isAsked = codeOf(error) === "START_GIVEN_UP";
      if (!isAsked) this.#log.warn({ reason: reasonOf(error) }, "the start failed; what has started is stopped");
      await this.stop(graceMilliseconds);
      throw error;
    }
    const { sources, channels, sinks } = this.assembly;
    const counts = { sources: sources.length, channels: channels.length, sinks: sinks.length };
    this.#log.info(counts, "agent started");
  }

  /**
   * Stops sources, drains sinks, stops channels. What a channel that forgets still holds after the grace period becomes
   * dead letters; resolves to how many events could not be kept either.
   */
  async stop(graceMilliseconds: number): Promise<number> {
    this.#parts.crashWatch.leave();
    let lost = 0;
    await this.#changes.run(() =>
      withGrace(graceMilliseconds, async (grace) => {
        lost = await this.#stopAll(grace);
      }),
    );
    this.#log.info({}, "agent stopped");
    return lost;
  }

  /** Events that the end of the process would lose now. */
  get eventsInMemory(): number {
    return this.assembly.channels.reduce((sum, { channel }) => sum + channel.inMemory, 0);
  }

  /**
   * Replaces what is not in the next assembly by what is; what is in both runs on. Throws half-way: see replaceComponents. A few
   * seconds are left when `hurried` aborts.
   */
  async replace(
    next: Assembly,
    graceMilliseconds: number,
    { hurried = nobodyAsks, goesBack = false }: ReplaceOptions = {},
  ): Promise<void> {
    const work = (phase: Phase) => replaceComponents(this.#runner, next, { phase, goesBack });
    await this.#changes.run(() => inPhases(graceMilliseconds, work, hurried));
  }

  /** Resolves when the replacement that goes on now has ended: until then sinks may be missing. */
  async replaced(): Promise<void> {
    await this.#changes.idle();
  }

  /** Resolves when the agents that share channels with this one can know all its erasures. */
  async shareErasures(): Promise<void> {
    await this.#runner.shareErasures();
  }

  /** Closes what replaced sources left open after a replacement that failed, once nobody goes back any more. */
  async closeHandovers(): Promise<void> {
    await this.#runner.closeHandovers();
  }

  async #startAll(stopRequested: AbortSignal): Promise<void> {
    const { dataDir, ledger, deadLetters, log, startTimeout = 0 } = this.#parts;
    const { sources, sinks, channels } = this.assembly;
    await makeDataDir(dataDir);
    await ledger.start();
    await this.#parts.erasures.start();
    const limits = { milliseconds: startTimeout * 1000, stopRequested, log };
    const firstStart = new FirstStart(this.#runner, limits);
    for (const running of channels) await firstStart.channel(running);
    warnOfLeftChannels({ ledger, dataDir, log });
    // After the channels: of two agents on one data directory the second ends at a channel and must touch nothing.
    await ledger.begin();
    await deadLetters.start();
    for (const running of channels) await this.#runner.followLetters(running);
    this.#parts.crashWatch.open();
    this.#runner.noteCompared(this.assembly);
    for (const { feed } of sinks) feed.join();
    await firstStart.sinks(sinks);
    for (const running of sources) await firstStart.source(running);
  }

  async #stopAll(grace: AbortSignal): Promise<number> {
    const { sources, sinks, channels } = this.assembly;
    await this.#runner.closeHandovers();
    await withLast(grace, async (last) => {
      // Their senders are answered before the sources close the connections.
      const forget = onAbort(grace, () => channels.forEach(({ channel }) => channel.abandonPuts()));
      await Promise.all(sources.map((running) => this.#runner.stopSource(running, grace, last)));
      forget();
    });
    await Promise.all(sinks.map((running) => drain(running, sinks, grace)));
    await Promise.all(sinks.map((running) => this.#runner.stopSink(running, grace)));
    this.#parts.crashWatch.close();
    let lost = 0;
    for (const running of channels) {
      const { name, channel } = running;
      if (!channel.mayHold) continue;
      if (channel.durable) {
        this.#log.info({ channel: name, events: channel.size }, "events stay in the channel for the next start");
        continue;
      }
      const sink = sinks.find((one) => one.channel === channel);
      lost += await keepAtStop(running, sink, this.#parts);
    }
    await Promise.all(channels.map((running) => this.#runner.stopChannel(running, grace)));
    for (const { channel } of channels) lost += channel.newlyLost;
    await this.#parts.deadLetters.stop();
    await this.#parts.ledger.stop();
    return lost;
  }
}

async function makeDataDir(folder: string): Promise<void> {
  try {
    await makeFolder(folder, 0o700);
  } catch (cause) {
    const remedy = "give another folder with --data-dir or DENEB_DATA_DIR";
    throw new AgentError("DATA_DIR_UNUSABLE", `making the data directory "${folder}" (${remedy})`, {
      cause,
      retryable: false,
    });
  }
}

interface LeftChannelsParts {
  readonly ledger: Pick<Ledger, "left">;
  readonly dataDir: string;
  readonly log: Logger;
}

/**
 * Warns of events that wait in the files of channels which the configuration no longer has, or has with a type that keeps no
 * files: nobody takes them. Called once the channels have started, while the books are those of the run before.
 */
function warnOfLeftChannels({ ledger, dataDir, log }: LeftChannelsParts): void {
  for (const { channel, events } of ledger.left()) {
    const folder = path.join(dataDir, "channels", encodeURIComponent(channel));
    // Without files, what the books say was in memory, or in a log of its own.
    if (existsSync(folder))
      log.warn({ channel, events, folder, remedy }, "events wait in a channel that nobody takes from");
  }
}

const remedy = "start with the channel as it was, under its name and with a sink, until it is empty; then change it";
