import type { ExplainedEvent, ExplainedSink } from "../agent/explain.js";
import type { ExplainedWrite } from "../sdk/index.js";
import { tableText } from "./table.js";

/** What became of each event, for people. */
export function explanationText(events: readonly ExplainedEvent[]): string {
  if (events.length === 0) return "no events";
  return events.map((event, index) => eventText(event, index + 1)).join("\n\n");
}

function eventText({ source, event, channels, sinks }: ExplainedEvent, number: number): string {
  const where = channels.length === 0 ? "dropped by an interceptor" : `to ${channels.join(", ")}`;
  const lines = [`event ${number} of source ${source}, ${where}`];
  const headers = Object.entries(event.headers).map(([name, text]) => `  ${name}: ${text}`);
  return [...lines, ...headers, ...sinks.flatMap(sinkLines)].join("\n");
}

function sinkLines({ sink, type, explanation, failure }: ExplainedSink): readonly string[] {
  const title = `sink ${sink} (${type})`;
  if (failure !== undefined) return [`${title}: not explained: ${failure}`];
  if (explanation === undefined) return [`${title}: its plugin does not explain what it does`];
  const { writes, statements, notes } = explanation;
  return [
    title,
    ...writes.flatMap(writeLines),
    ...statements.map(({ text, parameters }) =>
      parameters.length === 0 ? `  ${text}` : `  ${text}\n    ${JSON.stringify(parameters)}`,
    ),
    ...notes.map((note) => `  note: ${note}`),
  ];
}

function writeLines({ destination, columns, rows }: ExplainedWrite): readonly string[] {
  const place = Object.entries(destination).map(([part, name]) => `${part} ${name}`);
  const cells = rows.flatMap((row) => columns.map((column, index) => [column, row[index] ?? "NULL"]));
  const table = tableText(["column", "value"], cells);
  return [`  ${place.join(", ")}`, ...table.split("\n").map((line) => `    ${line}`)];
}
