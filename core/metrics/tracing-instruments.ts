import type { Registry } from "prom-client";
import type { SpanCounts } from "../tokens.js";
import { addCounter, addGauge } from "./readings.js";

const results = ["exported", "failed", "dropped"] as const;

/** Adds what became of the spans of this agent, read at each scrape. */
export function addTracingInstruments(registry: Registry, counts: () => SpanCounts): void {
  addCounter(registry, {
    name: "deneb_trace_spans_total",
    help: "Spans that ended, by result: exported, failed (the collector did not take them), dropped (the queue was full).",
    labels: ["result"],
    read: () => results.map((result) => [[result], counts()[result]] as const),
  });
  addGauge(registry, {
    name: "deneb_trace_spans_waiting",
    help: "Spans that wait for their export.",
    labels: [],
    read: () => [[[], counts().waiting] as const],
  });
}
