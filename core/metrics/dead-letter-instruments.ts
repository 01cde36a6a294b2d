import { Counter, Gauge, type Registry } from "prom-client";

/** The state of the dead letters of one sink. */
export interface DeadLetterStates {
  readonly sink: string;
  readonly reasons: Readonly<Record<string, number>>;
  readonly bytes: number;
  readonly oldest: Date | undefined;
  readonly deleted: number;
}

/** Adds the metrics that are read from the dead letters at each scrape. */
export function addDeadLetterInstruments(registry: Registry, counts: () => readonly DeadLetterStates[]): void {
  const registers = [registry];
  new Gauge({
    name: "deneb_dead_letters_open",
    help: "Dead letters that are neither stored nor dropped.",
    labelNames: ["sink", "reason"],
    registers,
    collect() {
      this.reset();
      for (const { sink, reasons } of counts()) {
        for (const [reason, count] of Object.entries(reasons)) this.set({ sink, reason }, count);
      }
    },
  });
  new Gauge({
    name: "deneb_dead_letters_bytes",
    help: "Bytes of these dead letters.",
    labelNames: ["sink"],
    registers,
    collect() {
      this.reset();
      for (const { sink, bytes } of counts()) this.set({ sink }, bytes);
    },
  });
  new Gauge({
    name: "deneb_dead_letters_oldest_timestamp_seconds",
    help: "Time at which the oldest of these dead letters was kept, in seconds since 1970; absent when there is none.",
    labelNames: ["sink"],
    registers,
    collect() {
      this.reset();
      for (const { sink, oldest } of counts()) if (oldest !== undefined) this.set({ sink }, oldest.getTime() / 1000);
    },
  });
  new Counter({
    name: "deneb_dead_letters_deleted_total",
    help: "Dead letters that were removed because of their age.",
    labelNames: ["sink"],
    registers,
    collect() {
      this.reset();
      for (const { sink, deleted } of counts()) this.inc({ sink }, deleted);
    },
  });
}
