import type { JsonObject } from "../../agent/live/merge-patch.js";
import { sendJson } from "../answers.js";
import { askAll, type Call } from "./call.js";
import { objectOf, objectsIn, textIn } from "./json.js";
import { inOrder, nameOf, reasonOfState, runningIn, type WorkerView } from "./team.js";

/** Milliseconds that a worker has to say whether it is ready. */
const LONGEST_LOOK = 3000;

/** Whether the workers are ready, and since when one of them is silent. */
export class Probes {
  readonly #silent = new Map<number, Date>();

  readonly live = async ({ response }: Call): Promise<void> => sendJson(response, 200, { status: "live" });

  readonly ready = async (call: Call): Promise<void> => {
    const asked = await askAll(call, runningIn(call.team), { limit: LONGEST_LOOK });
    const bodies = new Map(
      asked.flatMap(({ worker, answer }) => (answer === undefined ? [] : [[worker.number, answer]])),
    );
    const body = mergedReadiness(
      inOrder(call.team.workers).map((worker) => {
        const answer = bodies.get(worker.number);
        if (answer !== undefined) this.#silent.delete(worker.number);
        return answer === undefined
          ? { worker, body: undefined, silentSince: this.#since(worker.number) }
          : { worker, body: objectOf(answer.body) };
      }),
    );
    sendJson(call.response, "obstacles" in body ? 503 : 200, body);
  };

  #since(worker: number): Date {
    const since = this.#silent.get(worker) ?? new Date();
    this.#silent.set(worker, since);
    return since;
  }
}

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
