import type { JsonObject } from "../../../agent/live/merge-patch.js";
import { isOk } from "../call.js";
import { objectOf } from "../json.js";
import { type Absent, nameOf, type WorkerView } from "../team.js";
import type { WorkerAnswer } from "../worker-call.js";

/** What workers found; or why the call is refused. */
type Found = { readonly answers: readonly WorkerAnswer[] } | { readonly refusal: WorkerAnswer };

/** Of a read: a worker that fails is left out while another answers. */
export function foundOf(answers: readonly WorkerAnswer[]): Found {
  return sorted(answers, isFound, ({ status }) => status >= 400 && status < 500);
}

/** Of a change: an answer that some letters were not replayed has counts, too. */
export function changedOf(answers: readonly WorkerAnswer[]): Found {
  return sorted(
    answers,
    (answer) => isFound(answer) || "replayed" in objectOf(answer.body),
    () => true,
  );
}

function isFound({ status }: WorkerAnswer): boolean {
  return isOk(status);
}

type Judge = (answer: WorkerAnswer) => boolean;

/**
 * A sink that one worker knows is a sink of the agent: 404 of the others says that they have no such letter. Another refusal is one
 * of the call.
 */
function sorted(answers: readonly WorkerAnswer[], isGood: Judge, isRefusal: Judge): Found {
  const found = answers.filter(isGood);
  const others = answers.filter((answer) => !isGood(answer) && answer.status !== 404);
  const refusal = others.find(isRefusal) ?? (found.length === 0 ? (others[0] ?? answers[0]) : undefined);
  return refusal === undefined ? { answers: found } : { refusal };
}

/** The workers that told what they have; one that does not know the sink told that it has none. */
export function tellingOf(answers: readonly WorkerAnswer[]): readonly WorkerView[] {
  return answers.filter(({ status }) => isOk(status) || status === 404).map(({ worker }) => worker);
}

/** `missing`: the workers whose dead letters an answer lacks, with the reason; nothing where it has those of all. */
export function missingText(away: readonly Absent[]): JsonObject {
  return away.length === 0 ? {} : { missing: away.map(({ worker, reason }) => `${nameOf(worker)} ${reason}`) };
}
