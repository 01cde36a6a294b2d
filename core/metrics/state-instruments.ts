import { addLogInstruments, type LogState } from "./log-instruments.js";
import type { Readings } from "./readings.js";

/** What the components of an agent look like at this moment. */
export interface ComponentStates {
  readonly components: readonly ComponentState[];
  readonly conditions: readonly ComponentConditionState[];
  readonly channels: readonly ChannelState[];
  readonly sinks: readonly SinkState[];
  /** Of the channels that agents share. */
  readonly logs: readonly LogState[];
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
  /** Every cause that a component of this kind can have, and what it makes of the component. */
  readonly problems: readonly { readonly cause: string; readonly state: "up" | "degraded" | "down" }[];
}

interface ChannelState {
  readonly name: string;
  /** Undefined while the channel cannot tell. */
  readonly events: number | undefined;
  /** Undefined for a channel without a bound. */
  readonly capacity: number | undefined;
  /** Undefined for a channel that does not count them. */
  readonly bytes: number | undefined;
  /** Undefined for a channel without a bound in its configuration. */
  readonly capacityBytes: number | undefined;
  /** How long the oldest event waits; 0 in an empty channel, undefined where the channel does not say it. */
  readonly secondsOfOldest: number | undefined;
  /** Since the channel was made: no call resets them. */
  readonly putsOk: number;
  readonly putsFailed: number;
  readonly takesOk: number;
  readonly takesFailed: number;
}

interface SinkState {
  readonly name: string;
  /** Under which name its dead letters are kept: its own, or that of its group. */
  readonly keeper: string;
  /** When it last stored events; undefined when it has not yet. */
  readonly storedAt: Date | undefined;
  readonly secondsSinceLastWrite: number | undefined;
  /** How long its store has not answered the call that runs; 0 without one. */
  readonly secondsOfCall: number;
  /** The code of the error while its store fails, and that of what caused it; empty where that has none. */
  readonly failing: { readonly code: string; readonly cause: string } | undefined;
}

type States = () => ComponentStates;

const severity = { up: 0, degraded: 1, down: 2 } as const;
const healthStates = ["up", "degraded", "down"] as const;

/** Adds what is read from the components at each scrape. */
export function addStateInstruments(readings: Readings, states: States): void {
  addComponentInstruments(readings, states);
  addChannelInstruments(readings, states);
  addSinkInstruments(readings, states);
  addLogInstruments(readings, () => states().logs);
}

function addComponentInstruments(readings: Readings, states: States): void {
  readings.addGauge({
    name: "deneb_component_started",
    help: "1 while a component is started, else 0.",
    labels: ["kind", "name"],
    read: () => states().components.map(({ kind, name, started }) => [[kind, name], started ? 1 : 0] as const),
  });
  readings.addGauge({
    name: "deneb_component_health",
    help: "1 for the state that a component is in, 0 for the others.",
    labels: ["kind", "name", "state"],
    read: () =>
      states().conditions.flatMap(({ kind, name, state }) =>
        healthStates.map((one) => [[kind, name, one], one === state ? 1 : 0] as const),
      ),
  });
  readings.addGauge({
    name: "deneb_component_problem",
    help: "What is wrong with a component: 2 while the cause makes it down, 1 while it makes it degraded, else 0.",
    labels: ["kind", "name", "cause"],
    read: () =>
      states().conditions.flatMap(({ kind, name, problems }) =>
        problems.map(({ cause, state }) => [[kind, name, cause], severity[state]] as const),
      ),
  });
}

function addChannelInstruments(readings: Readings, states: States): void {
  const gauges = [
    [
      "oldest_event_seconds",
      "secondsOfOldest",
      "How long the oldest event of a channel waits; 0 in an empty channel, absent if the channel cannot tell.",
    ],
    ["bytes", "bytes", "Bytes that the events of a channel take; absent when the channel does not count them."],
    [
      "capacity_bytes",
      "capacityBytes",
      "Most bytes that fit into a channel; absent when its configuration has no bound.",
    ],
    ["events", "events", "Events in a channel; absent while the channel cannot tell."],
    ["capacity_events", "capacity", "Most events that fit into a channel; absent when its configuration has no bound."],
  ] as const;
  for (const [name, member, help] of gauges)
    readings.addGauge({
      name: `deneb_channel_${name}`,
      help,
      labels: ["channel"],
      read: () => states().channels.map((channel) => [[channel.name], channel[member]] as const),
    });
  const counters = [
    ["puts", "Events put into a channel, and events of puts that failed.", "putsOk", "putsFailed"],
    ["takes", "Events taken from a channel, and events that were given back.", "takesOk", "takesFailed"],
  ] as const;
  for (const [name, help, ok, failed] of counters)
    readings.addCounter({
      name: `deneb_channel_${name}_total`,
      help,
      labels: ["channel", "result"],
      read: () =>
        states().channels.flatMap((channel) => [
          [[channel.name, "ok"], channel[ok]] as const,
          [[channel.name, "failed"], channel[failed]] as const,
        ]),
    });
}

function addSinkInstruments(readings: Readings, states: States): void {
  readings.addGauge({
    name: "deneb_sink_last_write_timestamp_seconds",
    help: "When a sink last stored events, in seconds since 1970; absent before the first time.",
    labels: ["sink"],
    read: () =>
      states().sinks.map(
        ({ name, storedAt }) => [[name], storedAt === undefined ? undefined : storedAt.getTime() / 1000] as const,
      ),
  });
  readings.addGauge({
    name: "deneb_sink_seconds_since_last_write",
    help: "Seconds since a sink last stored events; absent before the first time. Deprecated: use deneb_sink_last_write_timestamp_seconds.",
    labels: ["sink"],
    read: () => states().sinks.map(({ name, secondsSinceLastWrite }) => [[name], secondsSinceLastWrite] as const),
  });
  readings.addGauge({
    name: "deneb_sink_call_seconds",
    help: "How long the call of the store of a sink that runs now has taken; 0 while none runs.",
    labels: ["sink"],
    read: () => states().sinks.map(({ name, secondsOfCall }) => [[name], secondsOfCall] as const),
  });
  readings.addGauge({
    name: "deneb_sink_store_ok",
    help: "0 while the last call of the store of a sink failed for another reason than the data, else 1.",
    labels: ["sink"],
    read: () => states().sinks.map(({ name, failing }) => [[name], failing === undefined ? 1 : 0] as const),
  });
  readings.addGauge({
    name: "deneb_sink_store_error",
    help: "1 while deneb_sink_store_ok is 0, with the code of the error and that of its cause; else absent.",
    labels: ["sink", "code", "cause"],
    read: () =>
      states().sinks.flatMap(({ name, failing }) =>
        failing === undefined ? [] : [[[name, failing.code, failing.cause], 1] as const],
      ),
  });
}
