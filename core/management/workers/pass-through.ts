import { pipeline } from "node:stream/promises";
import { codeOf } from "../../sdk/index.js";
import { type Call, headersOf, requestOf } from "./call.js";
import { nobodyAnswers, silent } from "./refusals.js";
import { isSilent, type WorkerView } from "./team.js";
import { type CallLimits, LONGEST, open } from "./worker-call.js";

/** Milliseconds that a worker has beside what a broker takes. */
const MARGIN = 5000;

/** Passes calls to one worker, and its answer back as it comes, streams included. */
export class PassThrough {
  readonly #ends = new Set<AbortController>();
  readonly #limit: number;

  /**
   * `brokerMillis` is what a worker takes at most for a call of a broker. What it says of a creation that was not answered must
   * reach the caller: who repeats it has two subscriptions.
   */
  constructor(brokerMillis: number) {
    this.#limit = Math.max(LONGEST, brokerMillis + MARGIN);
  }

  /** The first worker that is reached answers: nothing was asked of one that does not listen. */
  async pass(call: Call, workers: readonly WorkerView[]): Promise<void> {
    const [worker, ...others] = workers;
    if (worker === undefined) throw nobodyAnswers(call);
    const end = new AbortController();
    this.#ends.add(end);
    try {
      const signal = AbortSignal.any([call.signal, end.signal]);
      await passed(call, worker, { limit: this.#limit, signal, isSilent: () => isSilent(call.team, worker) });
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

async function passed(call: Call, worker: WorkerView, limits: CallLimits): Promise<void> {
  const { response } = call;
  const answer = await open(worker, requestOf(call), limits);
  const { "content-length": length } = answer.headers;
  response.status(answer.statusCode ?? 0).set(headersOf(answer.headers));
  if (length !== undefined) response.set("Content-Length", length);
  // What breaks off breaks off for the caller, too: it was destroyed.
  await pipeline(answer, response).catch(() => undefined);
}
