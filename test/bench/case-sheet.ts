import type { Measurement } from "./measure.js";
import type { CaseResult, CeilingResult } from "./result.js";
import { figure, type Sheet } from "./sheet.js";
import { median } from "./statistics.js";

interface Column {
  readonly head: string;
  readonly digits: number;
  read(measurement: Measurement): number | undefined;
}

const columns: readonly Column[] = [
  { head: "accepted/s", digits: 0, read: (run) => run.acceptedPerSecond },
  { head: "stored/s", digits: 0, read: (run) => run.storedPerSecond },
  { head: "p50 ms", digits: 1, read: (run) => run.load.p50 },
  { head: "p99 ms", digits: 1, read: (run) => run.load.p99 },
  { head: "p99.9 ms", digits: 1, read: (run) => run.load.p999 },
  { head: "p99 at half ms", digits: 1, read: (run) => run.half?.p99 },
  { head: "visible p50 ms", digits: 1, read: (run) => run.visible?.p50 },
  { head: "visible p99 ms", digits: 1, read: (run) => run.visible?.p99 },
  { head: "agent cores", digits: 2, read: (run) => run.agentCores },
  { head: "agent µs", digits: 1, read: (run) => run.agentMicroseconds },
  { head: "database cores", digits: 2, read: (run) => run.databaseCores },
  { head: "log cores", digits: 2, read: (run) => run.logCores },
  { head: "generator cores", digits: 2, read: (run) => run.load.cores },
  { head: "peak MiB", digits: 0, read: (run) => run.peakMebibytes },
  { head: "start ms", digits: 0, read: (run) => run.startMilliseconds },
  { head: "refused", digits: 0, read: (run) => run.load.refused + run.load.failed },
  { head: "rows", digits: 0, read: (run) => run.rows?.found },
  { head: "doubled", digits: 0, read: (run) => run.rows?.doubled },
];

/** One row a case: the median of its runs, and in brackets the least and the greatest. */
export function caseSheet(results: readonly CaseResult[]): Sheet {
  return {
    title: "Cases",
    head: ["case", ...columns.map(({ head }) => head)],
    rows: results.map(({ subject: { name }, runs, failure }) =>
      failure === undefined
        ? [
            name,
            ...columns.map(({ read, digits }) =>
              spread(
                runs.flatMap((run) => read(run) ?? []),
                digits,
              ),
            ),
          ]
        : [name, `not measured: ${failure}`],
    ),
  };
}

/** What the databases take without an agent. */
export function ceilingSheet(results: readonly CeilingResult[]): Sheet {
  return {
    title: "Write ceilings: one connection, 1,000 rows of 12 text columns (330 bytes) a transaction",
    head: ["write ceiling", "rows/s"],
    rows: results.map(({ subject: { name }, runs, failure }) => [
      name.replace(/^write ceiling: /, ""),
      failure === undefined ? spread(runs, 0) : `not measured: ${failure}`,
    ]),
  };
}

/** The median, with the least and the greatest when there are several. */
function spread(values: readonly number[], digits: number): string {
  if (values.length === 0) return "";
  const range = `${figure(Math.min(...values), digits)}-${figure(Math.max(...values), digits)}`;
  return `${figure(median(values), digits)}${values.length > 1 ? ` (${range})` : ""}`;
}
