import type { Verification } from "./verification.js";

/** The comparison of one worker. */
export interface VerificationOfWorker {
  readonly worker: number;
  readonly result: Verification;
}

/** The comparisons of all workers of an agent as one: each has channels of its own, and all have the same tables. */
export function verificationOfAll(all: readonly VerificationOfWorker[]): Verification {
  const [first] = all;
  if (all.length === 1 && first !== undefined) return first.result;
  const of = (texts: (one: Verification) => readonly string[]) =>
    all.flatMap(({ worker, result }) => texts(result).map((text) => `worker ${worker}: ${text}`));
  const tables = all.flatMap(({ result }) => result.tables);
  return {
    ok: all.every(({ result }) => result.ok),
    channels: all.flatMap(({ worker, result }) => result.channels.map((channel) => ({ ...channel, worker }))),
    tables: [...new Map(tables.map((one) => [`${one.sink} ${one.table}`, one])).values()],
    differences: of(({ differences }) => differences),
    unknown: of(({ unknown }) => unknown),
    notes: [...new Set(all.flatMap(({ result }) => result.notes))],
  };
}
