import type { GrowthCase } from "./growth-case.js";
import type { GrowthStep } from "./growth-step.js";
import type { GrowthResult } from "./result.js";
import { figure, type Sheet } from "./sheet.js";

const MEBIBYTE = 2 ** 20;

const titles = {
  tables: "Growth: distinct tables",
  services: "Services",
  backlog: "Growth: backlog of the file channel",
  body: "Growth: length of a body",
  entities: "Growth: entities of a notification",
  rows: "Growth: rows in 100 tables",
} satisfies Record<GrowthCase["curve"], string>;

const head = [
  "size",
  "work",
  "units",
  "seconds",
  "units/s",
  "µs/unit",
  "resident MiB before, after",
  "resident bytes/unit",
  "heap MiB before, after",
  "heap bytes/unit",
];

/** A table a curve, in it a row for each kind of work of each point: what stays the same for each unit grows linearly. */
export function growthSheets(results: readonly GrowthResult[]): readonly Sheet[] {
  return (["tables", "services", "backlog", "body", "entities", "rows"] as const)
    .map((curve) => ({
      title: titles[curve],
      head,
      rows: results.filter(({ subject }) => subject.curve === curve).flatMap(rowsOf),
    }))
    .filter(({ rows }) => rows.length > 0)
    .map((sheet) => ({ ...sheet, rows: sheet.rows.toSorted(([, a = ""], [, b = ""]) => a.localeCompare(b)) }));
}

function rowsOf({ subject: { size }, runs, failure }: GrowthResult): readonly (readonly string[])[] {
  if (failure !== undefined) return [[figure(size), `not measured: ${failure}`]];
  return runs.flat().map((step) => [figure(size), ...cells(step)]);
}

function cells({ work, units, seconds, memory }: GrowthStep): readonly string[] {
  const time = [figure(units), figure(seconds, 2), figure(units / seconds), figure((seconds / units) * 1e6, 2)];
  const resident = grown(units, memory?.residentBefore, memory?.residentAfter);
  return [work, ...time, ...resident, ...grown(units, memory?.heapBefore, memory?.heapAfter)];
}

function grown(units: number, before: number | undefined, after: number | undefined): readonly [string, string] {
  if (before === undefined || after === undefined) return ["", ""];
  return [`${figure(before / MEBIBYTE, 1)}, ${figure(after / MEBIBYTE, 1)}`, figure((after - before) / units)];
}
