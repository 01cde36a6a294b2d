import type { Measurement } from "./measure.js";
import type { CaseResult } from "./result.js";
import { figure, type Sheet } from "./sheet.js";

/** Places that take less in every case are one row. */
const LEAST_MICROSECONDS = 0.3;

const THREADS = "other threads: disk, V8";
const REST = "all others";

/**
 * Microseconds of CPU time for a notification, by place: a row each, a column for each case. Undefined without a profile, which
 * what does not run on Node has never, and where the system does not tell CPU times.
 */
export function profileSheet(results: readonly CaseResult[]): Sheet | undefined {
  const columns = results.flatMap(({ subject, runs }) => {
    const profiled = runs.filter(
      ({ places = [], agentMicroseconds }) => places.length > 0 && agentMicroseconds !== undefined,
    );
    return profiled.length === 0 ? [] : [{ name: subject.name, times: meanOf(profiled.map(timesOf)) }];
  });
  if (columns.length === 0) return undefined;
  const most = (place: string) => Math.max(...columns.map(({ times }) => times.get(place) ?? 0));
  const places = [...new Set(columns.flatMap(({ times }) => [...times.keys()]))];
  const large = places.filter((place) => most(place) >= LEAST_MICROSECONDS && place !== THREADS);
  const rest = places.filter((place) => most(place) < LEAST_MICROSECONDS && place !== THREADS);
  const row = (name: string, of: readonly string[]) => [
    name,
    ...columns.map(({ times }) => figure(sum(of.map((place) => times.get(place) ?? 0)), 1)),
  ];
  return {
    title: "Where the CPU time of a notification goes, µs",
    head: ["place", ...columns.map(({ name }) => name)],
    rows: [
      ...large.toSorted((one, other) => most(other) - most(one)).map((place) => row(place, [place])),
      row(REST, rest),
      row(THREADS, [THREADS]),
      row("sum", places),
    ],
  };
}

/** By place. What the main thread did not use, other threads did. */
function timesOf({ places = [], agentMicroseconds = 0, mainThreadMicroseconds = 0 }: Measurement) {
  const ofMain = places.map(({ name, share }) => [name, share * mainThreadMicroseconds] as const);
  return new Map([...ofMain, [THREADS, agentMicroseconds - mainThreadMicroseconds] as const]);
}

function meanOf(runs: readonly ReadonlyMap<string, number>[]): ReadonlyMap<string, number> {
  const places = new Set(runs.flatMap((run) => [...run.keys()]));
  return new Map([...places].map((place) => [place, sum(runs.map((run) => run.get(place) ?? 0)) / runs.length]));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
