import { randomUUID } from "node:crypto";
import type { DeadLetters } from "../pipeline/dead-letters/dead-letters.js";
import { readableLetter } from "../pipeline/dead-letters/letter-event.js";
import { type Event, type Logger, letterHeader, reasonOf } from "../sdk/index.js";
import type { Clock } from "../tokens.js";
import type { RunningChannel, RunningSink } from "./component.js";

export interface KeepingParts {
  readonly deadLetters: DeadLetters;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Keeps what a channel that forgets still holds at a stop as dead letters of a sink that takes from it. Resolves to how many
 * events could not be kept, and are lost with the process.
 */
export async function keepAtStop(
  { name, channel, outlet }: RunningChannel,
  sink: RunningSink | undefined,
  { deadLetters, clock, log }: KeepingParts,
): Promise<number> {
  let kept = 0;
  const under = sink?.group?.name ?? sink?.name;
  try {
    while (channel.size > 0 && under !== undefined) {
      const taken = channel.openTake();
      const events = await taken.take(channel.transactionCapacity, AbortSignal.abort());
      if (events.length === 0) break;
      // A replayed event has its letter: it is replayed again by the next process.
      const open = outlet.settlements.open(events).filter(({ headers }) => headers[letterHeader] === undefined);
      await deadLetters.keep(open.map((event) => letterOf(event, under, clock)));
      kept += open.length;
      await taken.commit();
    }
  } catch (error) {
    log.error({ channel: name, reason: reasonOf(error) }, "events of a stopped channel could not be kept");
  }
  if (kept > 0 && under !== undefined) {
    const fields = { channel: name, sink: under, events: kept, file: deadLetters.fileOf(under) };
    log.error(fields, "events kept as dead letters: the agent stopped before they were stored");
  }
  if (channel.size > 0) log.error({ channel: name, events: channel.size }, "events lost: the agent stopped");
  return channel.size;
}

function letterOf(event: Event, sink: string, clock: Clock) {
  const message = "stopping the agent: the event was not stored within the grace period";
  const about = { id: randomUUID(), time: clock.now().toISOString(), sink, attempts: 0, code: "STOPPED" };
  return readableLetter({ ...about, reason: "stopped", message, event });
}
