import type { SpanCounts } from "../tokens.js";
import type { Readings } from "./readings.js";

const results = ["exported", "failed", "dropped"] as const;

/** Adds what became of the spans of this agent, read at each scrape. */
export function addTracingInstruments(readings: Readings, counts: () => SpanCounts): void {
  readings.addCounter({
    name: "deneb_trace_spans_total",
    help: "Spans that ended, by result: exported, failed (the collector did not take them), dropped (the queue was full).",
    labels: ["result"],
    read: () => results.map((result) => [[result], counts()[result]] as const),
  });
  readings.addGauge({
    name: "deneb_trace_spans_waiting",
    help: "Spans that wait for their export.",
    labels: [],
    read: () => [[[], counts().waiting] as const],
  });
}
