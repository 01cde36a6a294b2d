import { pipeline } from "node:stream/promises";
import { codeOf } from "../../sdk/index.js";
import { type Call, headersOf, requestOf } from "./call.js";
import { nobodyAnswers, silent } from "./refusals.js";
import type { WorkerView } from "./team.js";
import { LONGEST, open } from "./worker-call.js";

/** Passes calls to one worker, and its answer back as it comes, streams included. */
export class PassThrough {
  readonly #ends = new Set<AbortController>();

  /** The first worker that is reached answers: nothing was asked of one that does not listen. */
  async pass(call: Call, workers: readonly WorkerView[]): Promise<void> {
    const [worker, ...others] = workers;
    if (worker === undefined) throw nobodyAnswers(call);
    const end = new AbortController();
    this.#ends.add(end);
    try {
      await passed(call, worker, end.signal);
    } catch (failure) {
      if (call.response.destroyed) return;
      if (codeOf(failure) !== "WORKER_UNREACHABLE" || others.length === 0) throw silent(call, worker, failure);
      await this.pass(call, others);
    } finally {
      this.#ends.delete(end);
    }
  }

  /** Ends the answers that have not ended. */
  end(): void {
    for (const end of this.#ends) end.abort();
  }
}

async function passed(call: Call, worker: WorkerView, end: AbortSignal): Promise<void> {
  const { response } = call;
  const signal = AbortSignal.any([call.signal, end]);
  const answer = await open(worker, requestOf(call), { limit: LONGEST, signal });
  const { "content-length": length } = answer.headers;
  response.status(answer.statusCode ?? 0).set(headersOf(answer.headers));
  if (length !== undefined) response.set("Content-Length", length);
  // What breaks off breaks off for the caller, too: it was destroyed.
  await pipeline(answer, response).catch(() => undefined);
}
