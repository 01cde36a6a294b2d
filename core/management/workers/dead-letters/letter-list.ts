import { badRequest, sendJson } from "../../answers.js";
import { countOf, queryIn } from "../../requests.js";
import { answersOf, askAll, type Call, passOn, type Told, toldBy } from "../call.js";
import { numberIn, objectOf } from "../json.js";
import { absent } from "../team.js";
import { foundOf, missingText, tellingOf } from "./letter-answers.js";
import { lettersIn } from "./letter-order.js";
import { choiceIn, ownIds, sinksWithLetters } from "./letter-sinks.js";

const path = "/v1/admin/deadletters";
const defaultLimit = 100;
/** Letters up to the end of a page: each worker is asked for as many. */
const most = 10_000;

/** `GET /v1/admin/deadletters`: a page of the letters of all workers. */
export async function listLetters(call: Call): Promise<void> {
  const { request, response } = call;
  const limit = Math.min(countOf(request, "limit", defaultLimit), most);
  const offset = countOf(request, "offset", 0);
  if (offset + limit > most) {
    throw badRequest(
      `Invalid parameter. offset and limit reach ${most} dead letters of several workers; search finds all`,
    );
  }
  const query = queryIn(request.url);
  query.set("limit", String(offset + limit));
  query.set("offset", "0");
  const answers = await answersOf(call, { path: `${path}?${query}` });
  const found = foundOf(answers);
  if ("refusal" in found) {
    passOn(call, found.refusal);
    return;
  }
  const told = toldBy(found.answers);
  const count = told.reduce((sum, { body }) => sum + numberIn(body["count"]), 0) - (await repeated(call, told));
  const deadletters = lettersIn(told, "oldest").slice(offset, offset + limit);
  sendJson(response, 200, {
    ...told[0]?.body,
    count,
    deadletters,
    ...missingText(absent(call.team, tellingOf(answers))),
  });
}

/** How many letters were counted by another worker already: those that agents share. */
async function repeated(call: Call, [first, ...others]: readonly Told[]): Promise<number> {
  if (first === undefined || others.length === 0) return 0;
  const choice = choiceIn(call.request.url);
  const chosen = choice.get("sink");
  const sinks = await sinksWithLetters(
    call,
    others.map(({ worker }) => worker),
  );
  let count = 0;
  for (const { worker, shared } of sinks) {
    for (const sink of shared.filter((name) => chosen === null || name === chosen)) {
      const ofSink = new URLSearchParams(choice);
      ofSink.set("sink", sink);
      const [reply] = await askAll(call, [worker], { path: `${path}?${ofSink}&limit=0` });
      const { count: all } = objectOf(reply?.answer?.body ?? "");
      count += Math.max(0, numberIn(all) - (await ownIds(call, worker, ofSink)).length);
    }
  }
  return count;
}
