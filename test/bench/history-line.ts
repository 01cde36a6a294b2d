import { type FormRatios, formRatios } from "./form-ratios.js";
import type { BodyFormat } from "./forms.js";
import { medianOf } from "./medians.js";
import type { BenchResults } from "./result.js";
import { figure, type Sheet } from "./sheet.js";

/** The forms that a release is measured with, each with both channels. */
export const guardForms = ["ld", "ld-pretty", "v2"] as const satisfies readonly BodyFormat[];

/** What the harness knows of the tree and the machine. */
type Facts = Readonly<Record<string, string>>;

/** The line of a release in docs/performance-history.md; undefined where a form of the guard was not measured. */
export function historySheet(results: BenchResults, facts: Facts): Sheet | undefined {
  const all = formRatios(results);
  const forms = guardForms.map((format) => all.find((one) => one.format === format));
  const complete = forms.filter((one) => one !== undefined);
  if (complete.length < forms.length) return undefined;
  return {
    title: "Line of docs/performance-history.md",
    head: [
      ...["release", "date", "commit", "node", "machine", "load before", "bare node:net/s"],
      ...complete.map(({ words }) => `${words}: stored/s, memory, file`),
      ...complete.map(({ words }) => `${words}: CPU, memory, file`),
      "start ms",
    ],
    rows: [
      [
        facts["version"] ?? "",
        (facts["date"] ?? "").slice(0, "2026-01-01".length),
        (facts["commit"] ?? "").replace(/^([0-9a-f]{7})[0-9a-f]+/, "$1"),
        facts["node"] ?? "",
        facts["machine"] ?? "",
        facts["load average before"] ?? "",
        shown(complete[0]?.bare, 0),
        ...complete.map((one) => pair(one, "stored")),
        ...complete.map((one) => pair(one, "cpu")),
        shown(startOf(results), 0),
      ],
    ],
  };
}

function pair({ memory, file }: FormRatios, of: "stored" | "cpu"): string {
  return `${shown(memory[of], 2)}, ${shown(file[of], 2)}`;
}

function shown(value: number | undefined, digits: number): string {
  return value === undefined ? "?" : figure(value, digits);
}

/** The fastest start of all cases of the agent: what other programs do can only make it slower. */
function startOf(results: BenchResults): number | undefined {
  const agents = results.cases.filter(({ subject }) => subject.system === "agent");
  const starts = agents.flatMap(({ subject }) => medianOf(results, subject.name, (run) => run.startMilliseconds) ?? []);
  return starts.length === 0 ? undefined : Math.min(...starts);
}
