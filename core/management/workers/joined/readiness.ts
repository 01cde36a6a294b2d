import type { JsonObject } from "../../../agent/live/merge-patch.js";
import { objectsIn, textIn } from "../json.js";
import { nameOf, reasonOfState, type WorkerView } from "../team.js";

/** What one worker says of itself; undefined while it does not answer. */
interface WorkerReadiness {
  readonly worker: WorkerView;
  readonly body: JsonObject | undefined;
  /** Since when it does not answer. */
  readonly silentSince?: Date;
}

/** The answer to `GET /ready`: the obstacles and warnings of all, each with its worker before the component. */
export function mergedReadiness(workers: readonly WorkerReadiness[]): JsonObject {
  const obstacles = workers.flatMap((one) => obstacleOf(one) ?? named(one, "obstacles"));
  const warnings = workers.flatMap((one) => named(one, "warnings"));
  return {
    status: obstacles.length === 0 ? "ready" : "not ready",
    ...(obstacles.length === 0 ? {} : { obstacles }),
    ...(warnings.length === 0 ? {} : { warnings }),
  };
}

function named({ worker, body }: WorkerReadiness, member: string): readonly JsonObject[] {
  return objectsIn(body?.[member]).map((one) => ({
    ...one,
    component: `${nameOf(worker)}: ${textIn(one["component"])}`,
  }));
}

function obstacleOf({ worker, body, silentSince }: WorkerReadiness): JsonObject | undefined {
  if (worker.state !== "running") {
    return { component: nameOf(worker), reason: reasonOfState(worker), since: worker.since.toISOString() };
  }
  if (body !== undefined) return undefined;
  return { component: nameOf(worker), reason: "does not answer", since: (silentSince ?? worker.since).toISOString() };
}
