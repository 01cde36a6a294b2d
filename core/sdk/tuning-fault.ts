import type { SinkTuning } from "./sink.js";

/** What is wrong with the `tuning` of a sink; undefined for a right one. A sink in JavaScript may have anything there. */
export function tuningFault(sink: object): string | undefined {
  const tuning: unknown = Reflect.get(sink, "tuning");
  if (tuning === undefined) return undefined;
  if (typeof tuning !== "object" || tuning === null) return `its tuning is ${shown(tuning)}; it must be an object`;
  for (const [name, { isRight, wanted }] of Object.entries(members)) {
    const value: unknown = Reflect.get(tuning, name);
    if (value !== undefined && !isRight(value)) return `its tuning.${name} is ${shown(value)}; it must be ${wanted}`;
  }
  return undefined;
}

function shown(value: unknown): string {
  return typeof value === "object" ? "an object" : (JSON.stringify(value) ?? String(value));
}

interface Member {
  readonly wanted: string;
  isRight(value: unknown): boolean;
}

const members: Readonly<Record<keyof SinkTuning, Member>> = {
  largestBatch: {
    wanted: "a whole number, 1 or more",
    isRight: (value) => Number.isSafeInteger(value) && Number(value) >= 1,
  },
  batchLinger: {
    wanted: 'milliseconds, 0 or more, or "under-load"',
    isRight: (value) => value === "under-load" || (Number.isFinite(value) && Number(value) >= 0),
  },
};
