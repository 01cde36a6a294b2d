import type { DeadLetters } from "../pipeline/dead-letters/dead-letters.js";
import { type ErasureOf, type Erasures, isOf } from "../pipeline/erasures.js";
import { FailureLog } from "../sdk/failure-log.js";
import type { Logger } from "../sdk/index.js";
import type { Clock } from "../tokens.js";
import type { Agent } from "./agent.js";

/** What an agent erased of what is not in a store yet, or would erase. */
interface AgentErasureResult {
  /** Dead letters, those on their way to their sinks included. */
  readonly deadLetters: number;
  /**
   * What waits in the channels, of all entities; those to erase are left out when they are taken. `waiting` is absent
   * while the channel cannot tell. Of a `shared` one other agents take, too.
   */
  readonly channels: readonly { readonly channel: string; readonly waiting?: number; readonly shared?: true }[];
  /** Sinks with a batch in hand from before, which may hold an event to erase and store it. */
  readonly unsettled: readonly string[];
}

interface AgentErasureParts {
  readonly agent: Pick<Agent, "assembly" | "shareErasures">;
  readonly letters: DeadLetters;
  readonly erasures: Erasures;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Milliseconds that a batch in hand has to be settled. */
const LONGEST = 10_000;
const INTERVAL = 60_000;
/** An event may be on its way into a channel for a time. */
const SLACK = 600_000;

/** Erases what an agent holds and has not stored: dead letters, and events that wait in channels. */
export class AgentErasure {
  readonly #parts: AgentErasureParts;
  readonly #failures: FailureLog;
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: AgentErasureParts) {
    this.#parts = parts;
    this.#failures = new FailureLog(parts.log, "erasures that are done are forgotten again");
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.forget(), INTERVAL).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Of each sink that is unsettled the rows may come later than the answer. */
  async erase(of: ErasureOf, { dryRun = false } = {}): Promise<AgentErasureResult> {
    const { agent, letters, erasures, clock, log } = this.#parts;
    const { channels, sinks } = agent.assembly;
    const waiting = channels.map(({ name, channel }) => ({
      channel: name,
      ...(channel.size === undefined ? {} : { waiting: channel.size }),
      ...(channel.isShared ? { shared: true as const } : {}),
    }));
    if (dryRun) return { deadLetters: await eraseLetters(of, letters, true), channels: waiting, unsettled: [] };
    await erasures.add(of, clock.now().getTime());
    const isShared = agent.shareErasures();
    // It may reject before it is awaited.
    isShared.catch(() => undefined);
    const unsettled: string[] = [];
    const limit = AbortSignal.timeout(LONGEST);
    for (const { name, feed } of sinks) if (!(await feed.idle(limit))) unsettled.push(name);
    // Afterwards: a batch in hand may have become dead letters.
    const deadLetters = await eraseLetters(of, letters, false);
    await isShared;
    log.info({ deadLetters, unsettled: unsettled.length }, "erased what is not stored");
    return { deadLetters, channels: waiting, unsettled };
  }

  /** Forgets erasures of which no event can wait any more. */
  async forget(): Promise<void> {
    const { agent, erasures, clock } = this.#parts;
    let oldest = clock.now().getTime();
    for (const { channel } of agent.assembly.channels) {
      const waiting = channel.waitingSince;
      if (waiting === undefined && !channel.mayHold) continue;
      oldest = waiting?.exact === true ? Math.min(oldest, waiting.since) : Number.NEGATIVE_INFINITY;
    }
    try {
      await erasures.forget(oldest - SLACK);
      this.#failures.works();
    } catch (error) {
      this.#failures.failed("warn", error, {
        message: "erasures that are done are not forgotten, will be tried again",
      });
    }
  }
}

/** Drops the dead letters to erase, and resolves when their texts are gone from the disk. */
export async function eraseLetters(of: ErasureOf, letters: DeadLetters, dryRun: boolean): Promise<number> {
  let count = 0;
  for (const sink of await letters.sinks()) {
    const ids: string[] = [];
    for await (const letter of letters.open(sink)) if (isOf(of, letter.event)) ids.push(letter.id);
    count += ids.length;
    if (dryRun) continue;
    await letters.mark(sink, ids, "dropped");
    // Without any, too: texts of letters that are stored by now may still be there.
    await letters.compact(sink);
  }
  return count;
}
