import { setInterval } from "node:timers/promises";
import type { Agent } from "../../agent/agent.js";
import type { DeadLetters } from "../../pipeline/dead-letters/dead-letters.js";

const PAUSE = 1000;

/** Resolves when an agent that receives nothing has stored all it had and keeps no dead letter, or the signal aborts. */
export async function untilEmptied(
  agent: Pick<Agent, "assembly">,
  letters: Pick<DeadLetters, "counts">,
  signal: AbortSignal,
): Promise<void> {
  try {
    for await (const _ of setInterval(PAUSE, undefined, { signal })) if (isEmpty(agent, letters)) return;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function isEmpty({ assembly }: Pick<Agent, "assembly">, letters: Pick<DeadLetters, "counts">): boolean {
  // What a log holds that other agents read, too, is not of this worker.
  const own = assembly.channels.filter(({ channel }) => !channel.isShared);
  const kept = letters.counts().reduce((sum, { waiting, replaying }) => sum + waiting + replaying, 0);
  return kept === 0 && own.every(({ channel }) => channel.size === 0);
}
