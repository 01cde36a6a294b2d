import type { Readings } from "./readings.js";

/** The state of the dead letters of one sink. */
interface DeadLetterStates {
  readonly sink: string;
  readonly reasons: Readonly<Record<string, number>>;
  /** Letters that were kept since the start of the process, by reason; absent: none. */
  readonly kept?: Readonly<Record<string, number>>;
  readonly bytes: number;
  readonly oldest: Date | undefined;
  readonly deleted: number;
}

export interface DeadLetterReadings {
  readonly counts: () => readonly DeadLetterStates[];
  /** Of the open letters of one sink; 0 is no limit. */
  readonly limitBytes: number;
}

/** Adds the metrics that are read from the dead letters at each scrape. */
export function addDeadLetterInstruments(readings: Readings, { counts, limitBytes }: DeadLetterReadings): void {
  readings.addGauge({
    name: "deneb_dead_letters_open",
    help: "Dead letters that are neither stored nor dropped.",
    labels: ["sink", "reason"],
    read: () => counts().flatMap(({ sink, reasons }) => byReason(sink, reasons)),
  });
  readings.addCounter({
    name: "deneb_dead_letters_kept_total",
    help: "Events that became dead letters, those included that a replay could not store.",
    labels: ["sink", "reason"],
    read: () => counts().flatMap(({ sink, reasons, kept = {} }) => byReason(sink, { ...zeros(reasons), ...kept })),
  });
  readings.addGauge({
    name: "deneb_dead_letters_bytes",
    help: "Bytes of the open dead letters of a sink.",
    labels: ["sink"],
    read: () => counts().map(({ sink, bytes }) => [[sink], bytes] as const),
  });
  readings.addGauge({
    name: "deneb_dead_letters_limit_bytes",
    help: "Bytes of open dead letters at which a sink stops; absent without a limit.",
    labels: [],
    read: () => [[[], limitBytes === 0 ? undefined : limitBytes] as const],
  });
  readings.addGauge({
    name: "deneb_dead_letters_oldest_timestamp_seconds",
    help: "When the oldest open dead letter was kept, in seconds since 1970; absent when there is none.",
    labels: ["sink"],
    read: () => counts().map(({ sink, oldest }) => [[sink], oldest && oldest.getTime() / 1000] as const),
  });
  readings.addCounter({
    name: "deneb_dead_letters_deleted_total",
    help: "Dead letters that were removed because of their age.",
    labels: ["sink"],
    read: () => counts().map(({ sink, deleted }) => [[sink], deleted] as const),
  });
}

function byReason(sink: string, reasons: Readonly<Record<string, number>>) {
  return Object.entries(reasons).map(([reason, count]) => [[sink, reason], count] as const);
}

function zeros(reasons: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.keys(reasons).map((reason) => [reason, 0]));
}
