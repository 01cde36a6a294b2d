import type { Json, JsonObject } from "../../../agent/live/merge-patch.js";
import { worstHealth } from "../joined/component-joins.js";
import { all, every, type Join, listBy, members, some } from "../joined/joins.js";
import { listIn, objectOf } from "../json.js";
import type { WorkerAnswer } from "../worker-call.js";

/** The counts of replays or drops of several workers, their refusals joined: the status is that of the worst. */
export function countedOf(
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
