import { sendJson } from "../answers.js";
import { askAll, type Call } from "./call.js";
import { mergedReadiness } from "./joined/readiness.js";
import { objectOf } from "./json.js";
import { inOrder, runningIn } from "./team.js";

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
