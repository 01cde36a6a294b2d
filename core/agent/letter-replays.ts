import type { SinkProgress } from "../metrics/observers.js";
import type { DeadLetter, DeadLetters, LetterEntry } from "../pipeline/dead-letters.js";
import { type Logger, reasonOf } from "../sdk/index.js";
import type { Clock } from "../tokens.js";
import type { RunningSink } from "./component.js";
import type { DeadLetterReplay } from "./dead-letter-replay.js";
import { ReplayPace, waitOfLetter } from "./replay-pace.js";

/** Milliseconds between two rounds. */
const roundInterval = 1000;

export interface LetterReplaysParts {
  readonly deadLetterReplay: DeadLetterReplay;
  readonly letters: DeadLetters;
  readonly progress: SinkProgress;
  readonly clock: Clock;
  readonly log: Logger;
  /** Milliseconds of a clock that nobody sets. */
  readonly uptime?: () => number;
}

/** One sink's letters on their way. */
interface Round {
  readonly pace: ReplayPace;
  underway: readonly string[];
  /** Goes through the file, oldest letter first; undefined before the first and after the last letter. */
  walk: AsyncGenerator<DeadLetter> | undefined;
  found: number;
}

/**
 * Replays letters whose retries ran out, or that a stop left, when their sink stores again: a few at a time, the next ones when these are
 * settled, behind the events that wait. Letters that no store takes are left to people.
 */
export class LetterReplays {
  readonly #parts: LetterReplaysParts;
  readonly #uptime: () => number;
  readonly #rounds = new Map<string, Round>();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;

  constructor(parts: LetterReplaysParts) {
    this.#parts = parts;
    this.#uptime = parts.uptime ?? (() => performance.now());
  }

  start(): void {
    this.#timer ??= setInterval(() => {
      this.#running ??= this.round().finally(() => {
        this.#running = undefined;
      });
    }, roundInterval).unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
    for (const { walk } of this.#rounds.values()) await walk?.return(undefined);
    this.#rounds.clear();
  }

  /** One look at every sink that has letters. */
  async round(): Promise<void> {
    const { letters, log } = this.#parts;
    for (const { sink, reasons } of letters.counts()) {
      if (reasons["retries-exhausted"] + reasons.stopped === 0) continue;
      try {
        await this.#roundOf(sink);
      } catch (error) {
        this.#of(sink).pace.failed(this.#uptime(), 0);
        log.warn({ sink, reason: reasonOf(error) }, "dead letters could not be replayed, will be tried again");
      }
    }
  }

  async #roundOf(name: string): Promise<void> {
    const { deadLetterReplay } = this.#parts;
    const running = deadLetterReplay.sinkOf(name);
    if (running === undefined || running.status !== "START") return;
    const round = this.#of(name);
    const sink = { name, round, stored: this.#lastStored(name, running) };
    if (!(await this.#settled(sink)) || !round.pace.mayGo(this.#uptime(), sink.stored)) return;
    const { transactionCapacity, size } = running.channel;
    // Behind a long queue letters would only take room from notifications.
    if (size > transactionCapacity) return;
    const parcel = await this.#next(sink, Math.min(round.pace.size, transactionCapacity));
    if (parcel.length === 0) return;
    round.underway = parcel.map(({ id }) => id);
    round.pace.sent(this.#uptime());
    await deadLetterReplay.send(name, parcel);
  }

  #lastStored(name: string, { node, group }: RunningSink): number {
    const names = [name, node.name, ...(group?.sinks ?? [])];
    return Math.max(...names.map((one) => this.#parts.progress.lastStored(one)?.getTime() ?? 0));
  }

  /** False while letters are on their way. */
  async #settled({ name, round, stored }: Turn): Promise<boolean> {
    const { letters, log } = this.#parts;
    if (round.underway.length === 0) return true;
    const entries = await Promise.all(round.underway.map((id) => letters.entry(name, id)));
    if (entries.some((entry) => entry?.mark === "replaying" && entry.own)) return false;
    const failed = entries.filter((entry) => entry?.mark === "waiting").length;
    log.info({ sink: name, letters: entries.length - failed, failed }, "dead letters replayed");
    round.underway = [];
    if (failed === entries.length) round.pace.failed(this.#uptime(), stored);
    else round.pace.worked();
    return true;
  }

  /** The next letters that are due; the oldest come first. */
  async #next({ name, round, stored }: Turn, most: number): Promise<readonly DeadLetter[]> {
    const { letters, clock } = this.#parts;
    const startedAt = this.#uptime();
    round.walk ??= letters.written(name);
    const parcel = new Map<string, DeadLetter>();
    const now = clock.now().getTime();
    while (parcel.size < most) {
      const { done, value } = await round.walk.next();
      if (done === true) {
        if (round.found + parcel.size === 0) round.pace.nothingDue(this.#uptime(), this.#uptime() - startedAt);
        round.walk = undefined;
        round.found = 0;
        return [...parcel.values()];
      }
      if (isDue(await letters.entry(name, value.id), now, stored)) parcel.set(value.id, value);
    }
    round.found += parcel.size;
    return [...parcel.values()];
  }

  #of(sink: string): Round {
    const known = this.#rounds.get(sink);
    if (known !== undefined) return known;
    const round: Round = { pace: new ReplayPace(this.#uptime()), underway: [], walk: undefined, found: 0 };
    this.#rounds.set(sink, round);
    return round;
  }
}

/** One sink in one round. */
interface Turn {
  readonly name: string;
  readonly round: Round;
  /** When it stored something last. */
  readonly stored: number;
}

/** A letter is tried again when its sink stored something after it, or after a while; each failure makes that longer. */
function isDue(entry: LetterEntry | undefined, now: number, stored: number): boolean {
  if (entry?.reason !== "retries-exhausted" && entry?.reason !== "stopped") return false;
  if (entry.mark !== "waiting" && (entry.mark !== "replaying" || entry.own)) return false;
  if (entry.replays === 0 && stored > entry.time) return true;
  return Math.abs(now - entry.time) >= waitOfLetter(entry.replays);
}
