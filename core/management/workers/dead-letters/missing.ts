import type { JsonObject } from "../../../agent/live/merge-patch.js";
import { isOk } from "../call.js";
import { type Absent, nameOf, type WorkerView } from "../team.js";
import type { WorkerAnswer } from "../worker-call.js";

/** The workers that told what they have; one that does not know the sink told that it has none. */
export function tellingOf(answers: readonly WorkerAnswer[]): readonly WorkerView[] {
  return answers.filter(({ status }) => isOk(status) || status === 404).map(({ worker }) => worker);
}

/** `missing`: the workers whose dead letters an answer lacks, with the reason; nothing where it has those of all. */
export function missingText(away: readonly Absent[]): JsonObject {
  return away.length === 0 ? {} : { missing: away.map(({ worker, reason }) => `${nameOf(worker)} ${reason}`) };
}
