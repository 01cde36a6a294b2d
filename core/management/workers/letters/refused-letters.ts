import type { WorkerAnswer } from "../worker-call.js";

/** Statuses of answers that have counts nevertheless: some letters were replayed, and others were not. */
const withCounts: ReadonlySet<number> = new Set([200, 409, 503]);

/** What workers found; or why the call is refused. */
export type Found = { readonly answers: readonly WorkerAnswer[] } | { readonly refusal: WorkerAnswer };

/**
 * A sink that one worker knows is a sink of the agent: 404 of the others says that they have no such letter. Every other refusal
 * is one of the call.
 */
export function foundOf(answers: readonly WorkerAnswer[]): Found {
  const refusal = answers.find(({ status }) => !withCounts.has(status) && status !== 404);
  if (refusal !== undefined) return { refusal };
  const found = answers.filter(({ status }) => withCounts.has(status));
  const [unknown] = answers;
  return found.length === 0 && unknown !== undefined ? { refusal: unknown } : { answers: found };
}
