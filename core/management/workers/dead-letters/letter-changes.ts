import type { Json, JsonObject } from "../../../agent/live/merge-patch.js";
import { sendJson } from "../../answers.js";
import { asObject, bodyOf, parameterOf, queryIn } from "../../requests.js";
import { passRefusal, wholeAnswers, workersForChange } from "../answering.js";
import { askEach, type Call, type Question } from "../call.js";
import { worstHealth } from "../joined/component-joins.js";
import { all, every, type Join, listBy, members, some } from "../joined/joins.js";
import { listIn, objectOf } from "../json.js";
import { cannotChange } from "../refusals.js";
import type { WorkerAnswer } from "../worker-call.js";
import { changedOf } from "./letter-answers.js";
import { choiceIn, type LetterSinks, ownIds, sinksWithLetters } from "./letter-sinks.js";

/** Most ids of one call. */
const MOST_IDS = 1000;

/** Replays or drops the letters that a call chooses, in all workers; those that agents share in the first one only. */
export async function changeLetters(call: Call): Promise<void> {
  const [first, ...others] = await workersForChange(call);
  const questions: Question[] = first === undefined ? [] : [{ worker: first, asked: {} }];
  if (others.length > 0) {
    const known = await sinksWithLetters(call, others);
    for (const worker of others) {
      const sinks = known.find((one) => one.worker === worker);
      if (sinks === undefined) throw cannotChange(call, worker, "does not say which dead letters it has");
      questions.push(...(await questionsTo(call, sinks)));
    }
  }
  const answers = wholeAnswers(call, await askEach(call, questions));
  const found = changedOf(answers);
  if ("refusal" in found) {
    passRefusal(call, found.refusal, answers);
    return;
  }
  const { status, body } = countedOf(found.answers, Number(parameterOf(call.request, "explain") ?? 0));
  sendJson(call.response, status, body);
}

/** What a worker beside the first is asked: all of it, or sink by sink where it shares those of some. */
async function questionsTo(call: Call, { worker, shared, own }: LetterSinks): Promise<readonly Question[]> {
  if (shared.length === 0) return [{ worker, asked: {} }];
  const chosen = parameterOf(call.request, "sink");
  const isChosen = (sink: string) => chosen === undefined || sink === chosen;
  const questions: Question[] = own.filter(isChosen).map((sink) => ({ worker, asked: { path: pathOf(call, sink) } }));
  for (const sink of shared.filter(isChosen)) {
    const ofSink = choiceIn(call.request.url);
    ofSink.set("sink", sink);
    const given = idsIn(call);
    const ids = (await ownIds(call, worker, ofSink)).filter((id) => given === undefined || given.has(id));
    for (let at = 0; at < ids.length; at += MOST_IDS) {
      const body = Buffer.from(JSON.stringify({ ids: ids.slice(at, at + MOST_IDS) }));
      questions.push({ worker, asked: { path: pathOf(call, sink), body } });
    }
  }
  return questions;
}

function pathOf({ request }: Call, sink: string): string {
  const query = queryIn(request.url);
  query.set("sink", sink);
  return `${request.path}?${query}`;
}

/** The ids of the body; undefined when it has none. A wrong body is refused by the first worker. */
function idsIn({ request }: Call): ReadonlySet<unknown> | undefined {
  try {
    const given: unknown = JSON.parse(bodyOf(request));
    const ids = asObject(given)?.["ids"];
    return Array.isArray(ids) ? new Set(ids) : undefined;
  } catch {
    return undefined;
  }
}

/** The counts of replays or drops of several workers, their refusals joined: the status is that of the worst. */
function countedOf(
  answers: readonly WorkerAnswer[],
  examples: number,
): { readonly status: number; readonly body: JsonObject } {
  const bodies = answers.map(({ body }) => objectOf(body));
  const status = Math.max(...answers.map((one) => one.status));
  const { error: _error, plan, ...counts } = merged(bodies);
  const errors = new Set(bodies.flatMap(({ error }) => (typeof error === "string" ? [error] : [])));
  return {
    status,
    body: {
      ...counts,
      success: status === 200 ? "true" : "false",
      ...(errors.size === 0 ? {} : { error: [...errors].join("; ") }),
      ...(plan === undefined ? {} : { plan: withExamples(plan, examples) }),
    },
  };
}

const group = listBy(["reason", "code", "outlook", "why"], members({}));

const plannedSink = members({ exists: some, health: worstHealth, findings: all, groups: group });

const refusals = listBy(["sink", "reason"], members({}));

const planned: Join = members({ sinks: listBy(["sink"], plannedSink), examples: all, complete: every });

const merged = members({ refusals, plan: planned });

function withExamples(plan: Json, most: number): JsonObject {
  const { examples, ...others } = members({})([plan]);
  return { ...others, examples: listIn(examples).slice(0, most) };
}
