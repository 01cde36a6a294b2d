import type { JsonObject } from "../../agent/live/merge-patch.js";
import { documentOf, objectsIn, ofWorker } from "./documents.js";
import type { WorkerView } from "./team.js";
import type { WorkerAnswer } from "./worker-calls.js";

export interface TeamReadiness {
  readonly obstacles: readonly JsonObject[];
  readonly warnings: readonly JsonObject[];
}

/** What keeps workers from being ready: what they say, and that one does not run or does not answer. */
export function readinessOf(answers: readonly WorkerAnswer[], workers: readonly WorkerView[]): TeamReadiness {
  const answered = new Set(answers.map(({ worker }) => worker.number));
  const silent = workers.filter(({ number }) => !answered.has(number)).map(obstacleOf);
  const said = (name: string) =>
    answers.flatMap((answer) => ofWorker(answer.worker.number, objectsIn(documentOf(answer), name)));
  return { obstacles: [...silent, ...said("obstacles")], warnings: said("warnings") };
}

function obstacleOf({ number, state, reason, since }: WorkerView): JsonObject {
  const what = state === "running" ? "it does not answer" : (reason ?? `it is ${state}`);
  return { component: `worker ${number}`, reason: what, since: since.toISOString() };
}
