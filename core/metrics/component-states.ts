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

export interface ComponentConditionState {
  readonly kind: ComponentState["kind"];
  readonly name: string;
  readonly state: "up" | "degraded" | "down";
}

export interface ChannelState {
  readonly name: string;
  readonly events: number;
  /** Undefined for a channel without a bound. */
  readonly capacity: number | undefined;
  /** Undefined for a channel that does not count them. */
  readonly bytes: number | undefined;
  /** How long the oldest event waits; 0 in an empty channel. */
  readonly secondsOfOldest: number;
  readonly putsOk: number;
  readonly putsFailed: number;
  readonly takesOk: number;
  readonly takesFailed: number;
}

export interface SinkState {
  readonly name: string;
  /** Undefined when it has not stored anything yet. */
  readonly secondsSinceLastWrite: number | undefined;
}
