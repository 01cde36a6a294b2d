import type { JsonObject } from "../../agent/live/merge-patch.js";
import { reasonOf } from "../../sdk/index.js";
import { HttpError, sendJson } from "../answers.js";
import {
  type Asked,
  answersOf,
  askAll,
  type Call,
  headersOf,
  isOk,
  passOn,
  type Reply,
  type Told,
  toldBy,
} from "./call.js";
import { objectOf, textIn } from "./json.js";
import { cannotChange, requireAll, requireFirst, silent } from "./refusals.js";
import { nameOf, type WorkerView } from "./team.js";
import type { WorkerAnswer } from "./worker-call.js";

/** Milliseconds that a worker has to show that it answers, before a change. */
const LONGEST_LOOK = 3000;

/** How the answers of workers become one. */
export type Answering = (call: Call) => Promise<void>;

/** What several workers told, as one document. */
export type Joining = (told: readonly Told[], call: Call) => JsonObject;

/** A read: what the workers told that did, or why all refuse. */
export function joined(join: Joining, asked: Asked = {}): Answering {
  return async (call) => answerJoined(call, await answersOf(call, asked), join);
}

/** A change of what each worker has in memory: the answer is that of the first. */
export const allChange: Answering = async (call) => {
  answerChanged(call, await changedBy(call), ([answer]) => answer);
};

/** A reload of each worker: the answer is that of one that still reloads, else of one that had something to reload. */
export const allReload: Answering = async (call) => {
  answerChanged(call, await changedBy(call), (answers) => {
    const by = (outcome: string) => answers.find(({ body }) => objectOf(body)["outcome"] === outcome);
    return by("running") ?? by("reloaded") ?? answers[0];
  });
};

function answerChanged(
  call: Call,
  answers: readonly WorkerAnswer[],
  choose: (answers: readonly WorkerAnswer[]) => WorkerAnswer | undefined,
): void {
  const refusal = refusalIn(answers);
  const answer = refusal ?? choose(answers);
  if (answer === undefined) return;
  if (refusal === undefined) passOn(call, answer);
  else passRefusal(call, answer, answers);
}

/** A refusal of a change that other workers have made names its worker and them. */
export function passRefusal(call: Call, refusal: WorkerAnswer, answers: readonly WorkerAnswer[]): void {
  const changed = answers.filter(({ status }) => isOk(status)).map(({ worker }) => nameOf(worker));
  if (changed.length === 0) {
    passOn(call, refusal);
    return;
  }
  const body = objectOf(refusal.body);
  const error = `${nameOf(refusal.worker)}: ${textIn(body["error"])}; ${changed.join(", ")} made the change`;
  call.response.set(headersOf(refusal.headers));
  sendJson(call.response, refusal.status, { ...body, error });
}

/** The same, with what all of them answer. */
export function allChangeJoined(join: Joining): Answering {
  return async (call) => {
    const answers = await changedBy(call);
    const refusal = refusalIn(answers);
    if (refusal === undefined) answerJoined(call, answers, join);
    else passRefusal(call, refusal, answers);
  };
}

/** A change of a file that all workers read: worker 1 makes it, the others find it when they look at the file. */
export const firstChanges: Answering = async (call) => {
  const first = requireFirst(call);
  await requireAnswers(call, [first]);
  const [{ answer, failure } = {}] = await askAll(call, [first]);
  if (answer === undefined) throw silent(call, first, failure);
  passOn(call, answer);
};

export function answerJoined(call: Call, answers: readonly WorkerAnswer[], join: Joining): void {
  const told = toldBy(answers);
  const [refusal] = answers;
  if (told.length > 0) sendJson(call.response, 200, join(told, call));
  else if (refusal !== undefined) passOn(call, refusal);
}

/** The workers that are to make a change; throws status 503, before anything is changed, unless all run and answer. */
export async function workersForChange(call: Call): Promise<readonly WorkerView[]> {
  const workers = requireAll(call);
  await requireAnswers(call, workers);
  return workers;
}

/** One that is frozen is not known to be silent at once. */
async function requireAnswers(call: Call, workers: readonly WorkerView[]): Promise<void> {
  const look = { method: "GET", path: "/live", body: undefined, limit: LONGEST_LOOK };
  const lost = (await askAll(call, workers, look)).find(({ answer }) => answer === undefined);
  if (lost !== undefined) throw cannotChange(call, lost.worker, "does not answer");
}

/** Asks every worker, or none when one does not run or answer. What the first refuses is asked of no other. */
async function changedBy(call: Call): Promise<readonly WorkerAnswer[]> {
  const [first, ...others] = await workersForChange(call);
  if (first === undefined) return await answersOf(call);
  const [{ answer, failure } = {}] = await askAll(call, [first]);
  if (answer === undefined) throw silent(call, first, failure);
  if (!isOk(answer.status)) return [answer];
  const rest = await askAll(call, others);
  return [answer, ...wholeAnswers(call, rest)];
}

/** Throws status 503 when an answer to a change is missing: others have made it. */
export function wholeAnswers(call: Call, replies: readonly Reply[]): readonly WorkerAnswer[] {
  const lost = replies.find((one) => one.answer === undefined);
  if (lost !== undefined) throw half(call, reasonOf(lost.failure));
  return replies.flatMap((one) => one.answer ?? []);
}

function refusalIn(answers: readonly WorkerAnswer[]): WorkerAnswer | undefined {
  return answers.find(({ status }) => !isOk(status));
}

function half({ response }: Call, reason: string): HttpError {
  response.set("Retry-After", "5");
  return new HttpError(503, { error: `${reason}; other workers have made the change. Repeat it` });
}
