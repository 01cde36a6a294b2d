import { type Request, type Response, Router } from "express";
import type { JsonObject } from "../../agent/live/merge-patch.js";
import { succeed } from "../answers.js";
import { countOf } from "../dead-letters-resource.js";
import { adminOnly } from "../security/access.js";
import { documentOf, numberIn, objectsIn, textIn } from "./documents.js";
import { merged } from "./merged.js";
import { accepted, type WorkerAnswer, type WorkerCalls } from "./worker-calls.js";

const path = "/v1/admin/arrivals";
const usualLimit = 100;
const largestLimit = 500;

/** What arrives at all workers, numbered in the order in which it was first seen here. */
export function arrivalsOfAll(calls: WorkerCalls): Router {
  const numbers = new ArrivalNumbers();
  const router = Router({ caseSensitive: true });
  const show = (response: Response, answers: readonly WorkerAnswer[], after: number, limit: number) => {
    const state = stateOf(answers);
    const arrivals = numbers
      .of(answers)
      .filter(({ seq }) => Number(seq) > after)
      .slice(0, limit);
    succeed(response, { ...state, last: arrivals.at(-1)?.["seq"] ?? numbers.last, arrivals });
  };
  router.get(path, adminOnly, async (request, response) => {
    const limit = Math.min(countOf(request, "limit", usualLimit), largestLimit);
    const after = countOf(request, "after", 0);
    const call = calls.of(request, response, `${path}?limit=${largestLimit}`);
    show(response, await Promise.all(calls.running.map((worker) => calls.ask(worker, call))), after, limit);
  });
  const toAll = async (request: Request, response: Response) => {
    const call = calls.of(request, response, path);
    return await Promise.all(calls.all.map((worker) => calls.ask(worker, call)));
  };
  router.put(path, async (request, response) => show(response, await toAll(request, response), 0, usualLimit));
  router.delete(path, async (request, response) => {
    stateOf(await toAll(request, response));
    succeed(response, { on: false });
  });
  return router;
}

function stateOf(answers: readonly WorkerAnswer[]): JsonObject {
  const documents = accepted(answers).map(documentOf);
  const { success: _, arrivals: _arrivals, last: _last, filter: _filter, ...state } = merged(documents);
  const filter = documents[0]?.["filter"];
  return filter === undefined ? state : { ...state, filter };
}

/** Numbers that count over all workers. Nothing of what arrived is kept here. */
class ArrivalNumbers {
  #last = 0;
  /** By process and its own number. */
  #given = new Map<string, number>();

  /** What the workers keep, in the order in which it was first asked for. */
  of(answers: readonly WorkerAnswer[]): readonly JsonObject[] {
    const all = answers.flatMap((answer) => {
      const { number: worker, pid } = answer.worker;
      const arrivals = objectsIn(documentOf(answer), "arrivals");
      return arrivals.map((one) => ({ key: `${pid} ${numberIn(one, "seq")}`, one: { ...one, worker } }));
    });
    const before = this.#given;
    this.#given = new Map();
    const inTime = all.toSorted((some, other) => textIn(some.one, "time").localeCompare(textIn(other.one, "time")));
    const numbered = inTime.map(({ key, one }) => {
      const seq = before.get(key) ?? this.#next();
      this.#given.set(key, seq);
      return { ...one, seq };
    });
    return numbered.toSorted((some, other) => some.seq - other.seq);
  }

  get last(): number {
    return this.#last;
  }

  #next(): number {
    this.#last += 1;
    return this.#last;
  }
}
