import type { JsonObject } from "../../agent/live/merge-patch.js";
import { documentOf, numberIn, objectIn, objectsIn, ofWorker } from "./documents.js";
import { merged } from "./merged.js";
import { shownWorker, type WorkerView } from "./team.js";
import type { WorkerAnswer } from "./worker-calls.js";

/** The statistics of an agent: those of its workers put together, and what each of them has done. */
export function statisticsOf(answers: readonly WorkerAnswer[], workers: readonly WorkerView[]): JsonObject {
  const all = answers.map((answer) => ({ worker: answer.worker, stats: objectIn(documentOf(answer), "stats") }));
  const stats = merged(all.map(({ worker, stats: own }) => ({ ...own, health: healthOf(own, worker.number) })));
  const done = new Map(all.map(({ worker, stats: own }) => [worker.number, own] as const));
  return {
    ...stats,
    workers: workers.map((worker) => ({ ...shownWorker(worker), ...booksOf(done.get(worker.number)) })),
  };
}

function healthOf(stats: JsonObject, worker: number): readonly JsonObject[] {
  return objectsIn(stats, "health").map((one) => ({
    ...one,
    findings: ofWorker(worker, objectsIn(one, "findings")),
  }));
}

function booksOf(stats: JsonObject | undefined): JsonObject {
  if (stats === undefined) return {};
  const channels = objectsIn(objectIn(stats, "ledger"), "channels");
  const sum = (name: string) => channels.reduce((total, channel) => total + numberIn(channel, name), 0);
  return { received: sum("received"), stored: sum("stored") };
}
