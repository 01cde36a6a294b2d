import { Counter, Gauge, type Registry } from "prom-client";
import type { SpanCounts } from "../tokens.js";

/** Adds what became of the spans of this agent, read at each scrape. */
export function addTracingInstruments(registry: Registry, counts: () => SpanCounts): void {
  const registers = [registry];
  new Counter({
    name: "deneb_trace_spans_total",
    help: "Spans that ended, by result: exported, failed (the collector did not take them), dropped (the queue was full).",
    labelNames: ["result"],
    registers,
    collect() {
      const { exported, failed, dropped } = counts();
      this.reset();
      for (const [result, count] of Object.entries({ exported, failed, dropped })) this.inc({ result }, count);
    },
  });
  new Gauge({
    name: "deneb_trace_spans_waiting",
    help: "Spans that wait for their export.",
    registers,
    collect() {
      this.set(counts().waiting);
    },
  });
}
