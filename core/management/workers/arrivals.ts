import type { JsonObject } from "../../agent/live/merge-patch.js";
import { badRequest } from "../answers.js";
import { countOf, parameterOf } from "../requests.js";
import { type Answering, allChangeJoined, answerJoined } from "./answering.js";
import { answersIn, askEach, type Call, type Told } from "./call.js";
import { latest, members, some } from "./joined/joins.js";
import { mergedInOrder } from "./joined/merged-in-order.js";
import { numberIn, objectsIn, textIn } from "./json.js";
import { runningIn, type WorkerView } from "./team.js";

const path = "/v1/admin/arrivals";
const defaultLimit = 100;
const largestLimit = 500;
/** Above the numbers of one worker, so that each entry of all has a number of its own. */
const NUMBERS = 1_000_000_000;

/** The last entry of each worker that was read, by the name of its process: another process counts from 1 again. */
type Places = ReadonlyMap<string, number>;

/** Starts a sample of what arrives, taken by all workers. */
export const startArrivals: Answering = allChangeJoined((told) => mergedArrivals(told, new Map(), 0));

/** The entries of the sample that were not read yet. */
export async function showArrivals(call: Call): Promise<void> {
  const limit = Math.min(countOf(call.request, "limit", defaultLimit), largestLimit);
  const places = placesIn(parameterOf(call.request, "after") ?? "0");
  const replies = await askEach(
    call,
    runningIn(call.team).map((worker) => {
      const after = places.get(processOf(worker)) ?? 0;
      return { worker, asked: { path: `${path}?after=${after}&limit=${limit}` } };
    }),
  );
  answerJoined(call, answersIn(call, replies), (told) => mergedArrivals(told, places, limit));
}

/** Samples as one, in the order of time. `last` says how far each of them was read. */
export function mergedArrivals(told: readonly Told[], places: Places, limit: number): JsonObject {
  const lists = told.map(({ worker, body }) => objectsIn(body["arrivals"]).map((entry) => ({ worker, entry })));
  const shown = mergedInOrder(lists, (one, other) => timeOf(one.entry) - timeOf(other.entry)).slice(0, limit);
  const reached = told.map(({ worker, body }, at) => {
    const last = shown.findLast((one) => one.worker === worker)?.entry["seq"];
    const isRead = lists[at]?.length === 0;
    const seq = isRead ? numberIn(body["last"]) : numberIn(last ?? places.get(processOf(worker)));
    return `${processOf(worker)}-${seq}`;
  });
  return {
    ...joinedState(told.map(({ body }) => body)),
    last: reached.join("."),
    arrivals: shown.map(({ worker, entry }) => ({
      ...entry,
      seq: worker.number * NUMBERS + numberIn(entry["seq"]),
      worker: worker.number,
    })),
  };
}

const joinedState = members({ on: some, until: latest, filter: ([filter]) => filter });

function timeOf({ time }: JsonObject): number {
  return Date.parse(textIn(time));
}

function processOf({ number, pid = 0 }: WorkerView): string {
  return `${number}-${pid}`;
}

function placesIn(after: string): Places {
  if (after === "0") return new Map();
  const places = after.split(".").map((place) => /^(\d{1,6}-\d{1,10})-(\d{1,9})$/.exec(place));
  return new Map(
    places.map((found) => {
      if (found === null) throw badRequest("Invalid parameter. after is 0, or the last of the answer before");
      return [found[1] ?? "", Number(found[2])] as const;
    }),
  );
}
