import { caseSheet, ceilingSheet } from "./case-sheet.js";
import { growthSheets } from "./growth-sheet.js";
import type { BenchResults } from "./result.js";
import { markdownOf, type Sheet, terminalOf } from "./sheet.js";
import { targetSheet } from "./target-sheet.js";
import { type OriginalFigures, targetRows, verdictOf } from "./targets.js";

/** Everything that a run of the harness has to say. */
export interface Report {
  readonly environment: Readonly<Record<string, string>>;
  readonly results: BenchResults;
  readonly original: OriginalFigures;
}

export function terminalReport(report: Report): string {
  return [facts(report).join("\n"), ...sheetsOf(report).map(terminalOf)].join("\n\n");
}

/** Sections of the third level, to be put into a page. */
export function markdownReport(report: Report): string {
  const list = facts(report).map((fact) => `- ${fact}`);
  return `${[list.join("\n"), ...sheetsOf(report).map(markdownOf)].join("\n\n")}\n`;
}

/** Every figure of every run, with the cases as they were configured. */
export function jsonReport({ environment, results, original }: Report): string {
  const targets = targetRows(results, original).map((row) => ({ ...row, verdict: verdictOf(row) }));
  return `${JSON.stringify({ environment, original, ...results, targets }, undefined, 2)}\n`;
}

function facts({ environment }: Report): readonly string[] {
  return Object.entries(environment).map(([name, value]) => `${name}: ${value}`);
}

/** The targets only when something of them was measured. */
function sheetsOf({ results, original }: Report): readonly Sheet[] {
  const targets = targetRows(results, original);
  return [
    ...(results.ceilings.length > 0 ? [ceilingSheet(results.ceilings)] : []),
    ...(results.cases.length > 0 ? [caseSheet(results.cases)] : []),
    ...growthSheets(results.growth),
    ...(targets.some(({ value }) => value !== undefined) ? [targetSheet(targets)] : []),
  ];
}
