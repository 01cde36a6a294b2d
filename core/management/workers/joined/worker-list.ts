import type { Json, JsonObject } from "../../../agent/live/merge-patch.js";
import { numberIn, objectsIn } from "../json.js";
import { inOrder, type Team } from "../team.js";

/** What one worker accepted and stored by its ledger, in events. */
interface WorkerBooks {
  readonly received: number;
  readonly stored: number;
}

/** The workers as statistics and stream show them; those without books did not answer. */
export function workerList({ workers }: Team, books: ReadonlyMap<number, WorkerBooks>): readonly JsonObject[] {
  return inOrder(workers).map(({ number, state, pid, since, reason, receives }) => ({
    number,
    state,
    ...(pid === undefined ? {} : { pid }),
    since: since.toISOString(),
    receives,
    ...(reason === undefined ? {} : { reason }),
    ...books.get(number),
  }));
}

/** Of the ledgers of all channels. */
export function booksIn(ledgers: Json | undefined): WorkerBooks {
  const total = (member: string) => objectsIn(ledgers).reduce((sum, channel) => sum + numberIn(channel[member]), 0);
  return { received: total("received"), stored: total("stored") };
}
