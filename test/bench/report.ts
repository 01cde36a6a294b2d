import { caseSheet, ceilingSheet } from "./case-sheet.js";
import { formRatios, formSheet } from "./form-ratios.js";
import { growthSheets } from "./growth-sheet.js";
import { historySheet } from "./history-line.js";
import type { OriginalSystems } from "./original-cases.js";
import { profileSheet } from "./profile-sheet.js";
import type { BenchResults } from "./result.js";
import { scaleSheet, scaleTargets } from "./scale-sheet.js";
import { secondTargets } from "./second-targets.js";
import { markdownOf, type Sheet, terminalOf } from "./sheet.js";
import { targetSheet } from "./target-sheet.js";
import { targetRows, verdictOf } from "./targets.js";

/** Everything that a run of the harness has to say. */
export interface Report {
  readonly environment: Readonly<Record<string, string>>;
  readonly results: BenchResults;
  readonly original: OriginalSystems;
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
  const rows = [...targetRows(results, original), ...secondTargets(results, original), ...scaleTargets(results)];
  const targets = rows.map((row) => ({ ...row, verdict: verdictOf(row) }));
  return `${JSON.stringify({ environment, original, ...results, targets }, undefined, 2)}\n`;
}

function facts({ environment }: Report): readonly string[] {
  return Object.entries(environment).map(([name, value]) => `${name}: ${value}`);
}

/** The targets only when something of them was measured. */
function sheetsOf({ results, original, environment }: Report): readonly Sheet[] {
  const targets = targetRows(results, original);
  const second = secondTargets(results, original);
  const scale = scaleTargets(results);
  const forms = formRatios(results);
  const history = historySheet(results, environment);
  const profile = profileSheet(results.cases);
  return [
    ...(results.ceilings.length > 0 ? [ceilingSheet(results.ceilings)] : []),
    ...(results.cases.length > 0 ? [caseSheet(results.cases)] : []),
    ...(forms.length > 0 ? [formSheet(forms)] : []),
    ...(history === undefined ? [] : [history]),
    ...(profile === undefined ? [] : [profile]),
    ...(results.scale.length > 0 ? [scaleSheet(results)] : []),
    ...growthSheets(results.growth),
    ...(targets.some(({ value }) => value !== undefined) ? [targetSheet(targets)] : []),
    ...(second.some(({ value }) => value !== undefined) ? [targetSheet(second, "Targets of the second round")] : []),
    ...(scale.some(({ value }) => value !== undefined) ? [targetSheet(scale, "Targets of scaling out")] : []),
  ];
}
