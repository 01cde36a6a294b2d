import { Counter, Gauge, type Registry } from "prom-client";

/** Adds what is read from the components at each scrape. */
export function addStateInstruments(registry: Registry, states: () => ComponentStates): void {
  const registers = [registry];
  new Gauge({
    name: "deneb_component_started",
    help: "1 while a component is started, else 0.",
    labelNames: ["kind", "name"],
    registers,
    collect() {
      this.reset();
      for (const { kind, name, started } of states().components) this.set({ kind, name }, started ? 1 : 0);
    },
  });
  new Gauge({
    name: "deneb_component_health",
    help: "1 for the state that a component is in, 0 for the others.",
    labelNames: ["kind", "name", "state"],
    registers,
    collect() {
      this.reset();
      for (const { kind, name, state } of states().conditions) {
        for (const one of ["up", "degraded", "down"]) this.set({ kind, name, state: one }, one === state ? 1 : 0);
      }
    },
  });
  new Gauge({
    name: "deneb_channel_oldest_event_seconds",
    help: "How long the oldest event of a channel waits; 0 in an empty channel, absent if the channel cannot tell.",
    labelNames: ["channel"],
    registers,
    collect() {
      this.reset();
      for (const { name, secondsOfOldest } of states().channels)
        if (secondsOfOldest !== undefined) this.set({ channel: name }, secondsOfOldest);
    },
  });
  new Gauge({
    name: "deneb_channel_bytes",
    help: "Bytes that the events of a channel take; absent when the channel does not count them.",
    labelNames: ["channel"],
    registers,
    collect() {
      this.reset();
      for (const { name, bytes } of states().channels) if (bytes !== undefined) this.set({ channel: name }, bytes);
    },
  });
  new Gauge({
    name: "deneb_channel_events",
    help: "Events in a channel; absent while the channel cannot tell.",
    labelNames: ["channel"],
    registers,
    collect() {
      this.reset();
      for (const { name, events } of states().channels) if (events !== undefined) this.set({ channel: name }, events);
    },
  });
  new Gauge({
    name: "deneb_channel_capacity_events",
    help: "Most events that fit into a channel.",
    labelNames: ["channel"],
    registers,
    collect() {
      this.reset();
      for (const { name, capacity } of states().channels)
        if (capacity !== undefined) this.set({ channel: name }, capacity);
    },
  });
  new Counter({
    name: "deneb_channel_puts_total",
    help: "Events put into a channel; PUT /v1/stats sets it to zero.",
    labelNames: ["channel", "result"],
    registers,
    collect() {
      this.reset();
      for (const { name, putsOk, putsFailed } of states().channels) {
        this.inc({ channel: name, result: "ok" }, putsOk);
        this.inc({ channel: name, result: "failed" }, putsFailed);
      }
    },
  });
  new Counter({
    name: "deneb_channel_takes_total",
    help: "Events taken from a channel; PUT /v1/stats sets it to zero.",
    labelNames: ["channel", "result"],
    registers,
    collect() {
      this.reset();
      for (const { name, takesOk, takesFailed } of states().channels) {
        this.inc({ channel: name, result: "ok" }, takesOk);
        this.inc({ channel: name, result: "failed" }, takesFailed);
      }
    },
  });
  new Gauge({
    name: "deneb_sink_seconds_since_last_write",
    help: "Seconds since a sink last stored events; absent before the first time.",
    labelNames: ["sink"],
    registers,
    collect() {
      this.reset();
      for (const { name, secondsSinceLastWrite } of states().sinks)
        if (secondsSinceLastWrite !== undefined) this.set({ sink: name }, secondsSinceLastWrite);
    },
  });
}

/** What the components of an agent look like at this moment. */
export interface ComponentStates {
  readonly components: readonly ComponentState[];
  readonly conditions: readonly ComponentConditionState[];
  readonly channels: readonly ChannelState[];
  readonly sinks: readonly SinkState[];
}

export interface ComponentState {
  readonly kind: "source" | "channel" | "sink";
  readonly name: string;
  readonly started: boolean;
}

interface ComponentConditionState {
  readonly kind: ComponentState["kind"];
  readonly name: string;
  readonly state: "up" | "degraded" | "down";
}

interface ChannelState {
  readonly name: string;
  /** Undefined while the channel cannot tell. */
  readonly events: number | undefined;
  /** Undefined for a channel without a bound. */
  readonly capacity: number | undefined;
  /** Undefined for a channel that does not count them. */
  readonly bytes: number | undefined;
  /** How long the oldest event waits; 0 in an empty channel, undefined where the channel does not say it. */
  readonly secondsOfOldest: number | undefined;
  readonly putsOk: number;
  readonly putsFailed: number;
  readonly takesOk: number;
  readonly takesFailed: number;
}

interface SinkState {
  readonly name: string;
  /** Undefined when it has not stored anything yet. */
  readonly secondsSinceLastWrite: number | undefined;
}

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
