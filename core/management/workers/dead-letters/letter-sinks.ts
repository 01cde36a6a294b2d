import { queryIn } from "../../requests.js";
import { answersIn, answersOf, askAll, type Call, toldBy } from "../call.js";
import { objectIn, objectOf, objectsIn, textIn } from "../json.js";
import type { WorkerView } from "../team.js";
import { isShared } from "./letter-order.js";

const path = "/v1/admin/deadletters";
/** Letters of one worker that are looked at where agents share those of a sink. */
const MOST_LOOKED_AT = 10_000;
const PAGE = 500;

/** The sinks with dead letters in one worker. */
export interface LetterSinks {
  readonly worker: WorkerView;
  /** Those whose letters agents share. */
  readonly shared: readonly string[];
  readonly own: readonly string[];
}

/** Which sinks of these workers have dead letters, and whose. */
export async function sinksWithLetters(call: Call, workers: readonly WorkerView[]): Promise<readonly LetterSinks[]> {
  const answers = await answersOf(call, { method: "GET", path: "/v1/stats", body: undefined }, workers);
  return toldBy(answers).map(({ worker, body }) => {
    const kept = objectsIn(objectIn(body["stats"])["dead_letters"]);
    const names = (isOfAll: boolean) =>
      kept.filter(({ shared }) => (shared === true) === isOfAll).map(({ sink }) => textIn(sink));
    return { worker, shared: names(true), own: names(false) };
  });
}

/**
 * The ids of a sink's letters that only this worker has, although agents share those of the sink: too large for their log, or
 * older than it.
 */
export async function ownIds(call: Call, worker: WorkerView, choice: URLSearchParams): Promise<readonly string[]> {
  const ids: string[] = [];
  const query = new URLSearchParams(choice);
  query.set("limit", String(PAGE));
  for (let looked = 0; looked < MOST_LOOKED_AT; looked += PAGE) {
    const asked = { method: "GET", path: `${path}/search?${query}`, body: undefined };
    const [answer] = answersIn(call, await askAll(call, [worker], asked));
    const { deadletters, next } = objectOf(answer?.body ?? "");
    ids.push(...objectsIn(deadletters).flatMap((one) => (isShared(one) ? [] : [textIn(one["id"])])));
    if (typeof next !== "string") break;
    query.set("cursor", next);
  }
  return ids;
}

/** Of the query those parameters that choose letters. */
export function choiceIn(url: string): URLSearchParams {
  const query = queryIn(url);
  for (const name of ["limit", "offset", "cursor", "dry_run", "explain", "all"]) query.delete(name);
  return query;
}
