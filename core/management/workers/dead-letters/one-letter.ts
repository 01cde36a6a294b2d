import { HttpError } from "../../answers.js";
import type { Answering } from "../answering.js";
import { answersOf, type Call, isOk, passOn } from "../call.js";
import type { PassThrough } from "../pass-through.js";
import { inOrder, nameOf, reasonOfState } from "../team.js";
import type { WorkerAnswer } from "../worker-call.js";

/** `GET /v1/admin/deadletters/{id}`: the worker that has the letter shows it. */
export async function showLetter(call: Call): Promise<void> {
  passOn(call, await holding(call));
}

/** Replays or drops one letter, in the worker that has it. */
export function changeLetter(through: PassThrough): Answering {
  return async (call) => {
    const answer = await holding(call);
    if (isOk(answer.status)) {
      await through.pass(call, [answer.worker]);
      return;
    }
    const missing = inOrder(call.team.workers).find(({ state }) => state !== "running");
    if (missing === undefined) {
      passOn(call, answer);
      return;
    }
    call.response.set("Retry-After", "5");
    const state = `${nameOf(missing)}, which may have it, is ${reasonOfState(missing)}`;
    throw new HttpError(503, { error: `No worker that runs has this dead letter; ${state}` });
  };
}

/** The answer of the first worker that has the letter of the path; of one that has not when none has. */
async function holding(call: Call): Promise<WorkerAnswer> {
  const path = `/v1/admin/deadletters/${encodeURIComponent(String(call.request.params["id"]))}`;
  const answers = await answersOf(call, { method: "GET", path, body: undefined });
  const [first] = answers;
  const found = answers.find(({ status }) => isOk(status)) ?? answers.find(({ status }) => status !== 404) ?? first;
  if (found === undefined) throw new HttpError(404, { error: "No such dead letter" });
  return found;
}
