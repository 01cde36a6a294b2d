import { cpus, release, totalmem, type } from "node:os";
import Table from "cli-table3";
import type { Measurement } from "./measure.js";

/** The runs of one case; a case that could not run has a reason instead. */
export interface CaseResult {
  readonly name: string;
  readonly runs: readonly Measurement[];
  readonly failure?: string;
}

/** The machine, then one row a case: the median of its runs, and in brackets the least and the greatest. */
export function report(results: readonly CaseResult[]): string {
  const table = new Table({ head: ["case", ...columns.map(({ head }) => head)], style: { head: [], border: [] } });
  for (const { name, runs, failure } of results) {
    if (failure !== undefined) table.push([name, { colSpan: columns.length, content: `not measured: ${failure}` }]);
    else table.push([name, ...columns.map((column) => cell(runs, column))]);
  }
  return `${machine()}\n${table.toString()}`;
}

interface Column {
  readonly head: string;
  readonly digits: number;
  readonly spread?: true;
  read(measurement: Measurement): number | undefined;
}

const columns: readonly Column[] = [
  { head: "accepted/s", digits: 0, spread: true, read: (run) => run.acceptedPerSecond },
  { head: "stored/s", digits: 0, spread: true, read: (run) => run.storedPerSecond },
  { head: "p50 ms", digits: 1, read: (run) => run.load.p50 },
  { head: "p99 ms", digits: 1, read: (run) => run.load.p99 },
  { head: "p99.9 ms", digits: 1, read: (run) => run.load.p999 },
  { head: "p99 at half ms", digits: 1, read: (run) => run.half.p99 },
  { head: "visible p50 ms", digits: 1, read: (run) => run.visible?.p50 },
  { head: "visible p99 ms", digits: 1, read: (run) => run.visible?.p99 },
  { head: "agent cores", digits: 2, read: (run) => run.agentCores },
  { head: "database cores", digits: 2, read: (run) => run.databaseCores },
  { head: "peak MiB", digits: 0, read: (run) => run.peakMebibytes },
  { head: "start ms", digits: 0, read: (run) => run.startMilliseconds },
  { head: "refused", digits: 0, read: (run) => run.load.refused + run.load.failed },
];

function cell(runs: readonly Measurement[], { digits, spread, read }: Column): string {
  const values = runs.flatMap((run) => read(run) ?? []).sort((a, b) => a - b);
  const [least] = values;
  const greatest = values.at(-1);
  if (least === undefined || greatest === undefined) return "";
  const show = (value: number) => value.toLocaleString("en", { maximumFractionDigits: digits });
  const range = spread === true && values.length > 1 ? ` (${show(least)}-${show(greatest)})` : "";
  return `${show(median(values))}${range}`;
}

/** Of a sorted list. */
function median(values: readonly number[]): number {
  const middle = (values.length - 1) / 2;
  return ((values[Math.floor(middle)] ?? Number.NaN) + (values[Math.ceil(middle)] ?? Number.NaN)) / 2;
}

function machine(): string {
  const [cpu] = cpus();
  const memory = Math.round(totalmem() / 2 ** 30);
  return `${type()} ${release()}, ${cpus().length} x ${cpu?.model ?? "unknown CPU"}, ${memory} GiB, Node ${process.version}`;
}
