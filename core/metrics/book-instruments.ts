import type { Readings } from "./readings.js";

/** The books of one channel, in events. */
export interface ChannelBooks {
  readonly name: string;
  readonly received: number;
  readonly stored: number;
  readonly dead_lettered: number;
  readonly filtered: number;
  readonly uncounted: number;
  readonly lost: number;
  readonly unaccounted?: number;
}

const outcomes = ["received", "stored", "dead_lettered", "filtered", "uncounted", "lost"] as const;

/** Adds what the ledger says; `books` is what was read for this scrape. */
export function addBookInstruments(readings: Readings, books: () => readonly ChannelBooks[]): void {
  readings.addCounter({
    name: "deneb_ledger_events_total",
    help: "What the ledger counts of the events of a channel; of a durable channel it goes on over restarts.",
    labels: ["channel", "outcome"],
    read: () => books().flatMap((one) => outcomes.map((outcome) => [[one.name, outcome], one[outcome]] as const)),
  });
  readings.addGauge({
    name: "deneb_ledger_unaccounted_events",
    help: "Events that the ledger misses in a channel, or has too many of; absent while the channel cannot tell.",
    labels: ["channel"],
    read: () => books().map(({ name, unaccounted }) => [[name], unaccounted] as const),
  });
}
