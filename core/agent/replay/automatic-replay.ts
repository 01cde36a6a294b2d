import type { DeadLetter, DeadLetters, LetterEntry } from "../../pipeline/dead-letters/dead-letters.js";
import { isOpen } from "../../pipeline/dead-letters/letter-table.js";
import { type Logger, reasonOf } from "../../sdk/index.js";
import type { Clock } from "../../tokens.js";
import type { RunningSink } from "../component.js";
import type { RecentActivity } from "../state/recent-activity.js";
import type { DeadLetterReplay } from "./dead-letter-replay.js";
import { ReplayPace, waitOfLetter } from "./replay-pace.js";

/** Milliseconds between two passes over the sinks. */
const passInterval = 1000;

interface AutomaticReplayParts {
  readonly deadLetterReplay: DeadLetterReplay;
  readonly letters: DeadLetters;
  readonly activity: RecentActivity;
  readonly clock: Clock;
  readonly log: Logger;
  /** Milliseconds of a clock that nobody sets. */
  readonly uptime?: () => number;
}

/** One sink's letters on their way. */
interface SinkReplay {
  readonly pace: ReplayPace;
  underway: readonly string[];
  /** Goes through the file, oldest letter first; undefined before the first and after the last letter. */
  walk: AsyncGenerator<DeadLetter> | undefined;
  found: number;
}

/**
 * Replays letters whose retries ran out, or that a stop left, when their sink stores again: a few at a time, the next ones when these are
 * settled, behind the events that wait. Letters that no store takes are left to people; but where agents share letters, a replay that ended
 * with its agent is made again.
 */
export class AutomaticReplay {
  readonly #parts: AutomaticReplayParts;
  readonly #uptime: () => number;
  readonly #replays = new Map<string, SinkReplay>();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;

  constructor(parts: AutomaticReplayParts) {
    this.#parts = parts;
    this.#uptime = parts.uptime ?? (() => performance.now());
  }

  start(): void {
    this.#parts.letters.whenKept(this.#wake);
    this.#wake();
  }

  readonly #wake = (): void => {
    this.#timer ??= setInterval(() => {
      this.#running ??= this.pass().finally(() => {
        this.#running = undefined;
      });
    }, passInterval).unref();
  };

  /** Nothing to do until the next letter is kept. */
  #rest(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async stop(): Promise<void> {
    this.#parts.letters.whenKept(undefined);
    this.#rest();
    await this.#running;
    for (const { walk } of this.#replays.values()) await walk?.return(undefined);
    this.#replays.clear();
  }

  /** Checks every sink that has letters. */
  async pass(): Promise<void> {
    const { letters, log } = this.#parts;
    const open = letters
      .counts()
      .filter(({ reasons, replaying }) => reasons["retries-exhausted"] + reasons.stopped + replaying > 0);
    if (open.length === 0) this.#rest();
    for (const { sink } of open) {
      try {
        await this.#replayTo(sink);
      } catch (error) {
        this.#of(sink).pace.failed(this.#uptime(), 0);
        log.warn({ sink, reason: reasonOf(error) }, "dead letters could not be replayed, will be tried again");
      }
    }
  }

  async #replayTo(name: string): Promise<void> {
    const { deadLetterReplay } = this.#parts;
    const running = deadLetterReplay.sinkOf(name);
    if (running === undefined || running.status !== "START") return;
    // Also by an agent that does not replay: it may have been asked to, or have been held up since it did.
    await deadLetterReplay.takeBack(name);
    // One agent at a time replays what several share; one that knows of none, as after it was frozen, waits until it does.
    const log = running.channel.log();
    if (log !== undefined && log.agents[0]?.mine !== true) return;
    const replay = this.#of(name);
    const sink = { name, replay, stored: this.#lastStored(name, running) };
    if (!(await this.#settled(sink)) || !replay.pace.mayGo(this.#uptime(), sink.stored)) return;
    const { transactionCapacity, size } = running.channel;
    // Behind a long queue letters would only take room from notifications.
    if ((size ?? 0) > transactionCapacity) return;
    const batch = await this.#next(sink, Math.min(replay.pace.size, transactionCapacity));
    if (batch.length === 0) return;
    replay.underway = batch.map(({ id }) => id);
    replay.pace.sent(this.#uptime());
    await deadLetterReplay.send(name, batch);
  }

  #lastStored(name: string, { node, group }: RunningSink): number {
    const names = [name, node.name, ...(group?.sinks ?? [])];
    return Math.max(...names.map((one) => this.#parts.activity.lastStored(one)?.getTime() ?? 0));
  }

  /** False while letters are on their way. */
  async #settled({ name, replay, stored }: Turn): Promise<boolean> {
    const { letters, log } = this.#parts;
    if (replay.underway.length === 0) return true;
    const entries = await Promise.all(replay.underway.map((id) => letters.entry(name, id)));
    if (entries.some((entry) => entry?.mark === "replaying" && entry.own)) return false;
    const failed = entries.filter((entry) => entry?.mark === "waiting").length;
    log.info({ sink: name, letters: entries.length - failed, failed }, "dead letters replayed");
    replay.underway = [];
    if (failed === entries.length) replay.pace.failed(this.#uptime(), stored);
    else replay.pace.worked();
    return true;
  }

  /** The next letters that are due; the oldest come first. */
  async #next({ name, replay, stored }: Turn, most: number): Promise<readonly DeadLetter[]> {
    const { letters, clock } = this.#parts;
    const startedAt = this.#uptime();
    replay.walk ??= letters.written(name);
    const batch = new Map<string, DeadLetter>();
    const now = clock.now().getTime();
    while (batch.size < most) {
      const { done, value } = await replay.walk.next();
      if (done === true) {
        if (replay.found + batch.size === 0) replay.pace.nothingDue(this.#uptime(), this.#uptime() - startedAt);
        replay.walk = undefined;
        replay.found = 0;
        return [...batch.values()];
      }
      if (isDue(await letters.entry(name, value.id), now, stored)) batch.set(value.id, value);
    }
    replay.found += batch.size;
    return [...batch.values()];
  }

  #of(sink: string): SinkReplay {
    const known = this.#replays.get(sink);
    if (known !== undefined) return known;
    const replay: SinkReplay = { pace: new ReplayPace(this.#uptime()), underway: [], walk: undefined, found: 0 };
    this.#replays.set(sink, replay);
    return replay;
  }
}

/** One sink in one pass. */
interface Turn {
  readonly name: string;
  readonly replay: SinkReplay;
  /** When it stored something last. */
  readonly stored: number;
}

/** A letter is tried again when its sink stored something after it, or after a while; each failure makes that longer. */
function isDue(entry: LetterEntry | undefined, now: number, stored: number): boolean {
  if (entry === undefined || !isOpen(entry) || (entry.mark === "replaying" && entry.own)) return false;
  // Somebody had it replayed, and the agent that did has ended: nobody else would say what came of it.
  if (entry.mark === "replaying" && entry.offset !== undefined) return entry.reason !== "crashed-the-agent";
  if (entry.reason !== "retries-exhausted" && entry.reason !== "stopped") return false;
  if (entry.replays === 0 && stored > entry.time) return true;
  return Math.abs(now - entry.time) >= waitOfLetter(entry.replays);
}
