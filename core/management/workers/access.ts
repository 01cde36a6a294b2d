import { sendJson } from "../answers.js";
import { answersOf, type Call, isOk, passOn } from "./call.js";
import { isObject, objectIn, objectOf } from "./json.js";
import { chosenWorker } from "./one-worker.js";
import { runningIn } from "./team.js";

/** `GET /v1/access`: a worker knows the agent, and the gateway knows the caller. */
export function answerAccess(started: string) {
  return async (call: Call): Promise<void> => {
    const worker = chosenWorker(call.team, call.response);
    const [answer] = await answersOf(call, {}, worker === undefined ? runningIn(call.team).slice(0, 1) : [worker]);
    if (answer === undefined || !isOk(answer.status)) {
      if (answer !== undefined) passOn(call, answer);
      return;
    }
    const role = String(call.response.locals["role"]);
    const { features, ...body } = objectOf(answer.body);
    const { broker_targets: targets, ...others } = objectIn(features);
    const shown = role === "read" || targets === undefined ? others : { ...others, broker_targets: targets };
    const own = worker === undefined ? { started } : {};
    sendJson(call.response, 200, { ...body, role, ...own, ...(isObject(features) ? { features: shown } : {}) });
  };
}
