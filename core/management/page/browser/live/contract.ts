/** What the management interface answers, as far as the page uses it; docs/management-api.md describes it. */

export type Role = "open" | "read" | "admin";

export interface Topology {
  readonly agent: string;
  readonly revision: number;
  readonly components: readonly Component[];
  readonly links: readonly Link[];
  readonly groups: readonly Group[];
}

interface Link {
  readonly from: string;
  readonly to: string;
}

export interface Part {
  readonly kind: string;
  readonly name: string;
  readonly type: string;
  readonly plugin: { readonly origin: string; readonly stability: string };
  readonly settings: readonly Setting[];
  readonly nested: readonly (Part & { readonly slot: string })[];
}

export interface Component extends Part {
  /** `kind:name`; the key of its state, too. */
  readonly id: string;
  readonly kind: "source" | "channel" | "sink";
  readonly durable?: boolean;
  readonly capacity?: number;
}

interface Setting {
  readonly name: string;
  readonly value: unknown;
  readonly masked?: boolean;
  readonly default?: boolean;
}

export interface Group {
  readonly id: string;
  readonly name: string;
  /** Ids. */
  readonly sinks: readonly string[];
  readonly processor: Part;
}

/** The document of the stream. */
export interface Snapshot {
  readonly time: string;
  readonly agent: {
    readonly name: string;
    /** When the process was started; another time is another process. */
    readonly started?: string;
    readonly revision: number;
    readonly ready: boolean;
    readonly last_reload?: LastReload;
    readonly arrivals?: { readonly on: boolean; readonly until?: string };
    /** Of an agent of several processes. */
    readonly workers?: readonly Worker[];
  };
  readonly components: Readonly<Record<string, ComponentState>>;
  readonly dead_letters: Readonly<Record<string, LetterCounts>>;
}

export interface Worker {
  readonly number: number;
  readonly state: "starting" | "running" | "silent" | "restarting" | "stopping";
  readonly reason?: string;
}

interface LastReload {
  readonly time: string;
  readonly ok: boolean;
  readonly outcome?: string;
}

export type Health = "up" | "degraded" | "down";

/** The state of a source, a channel or a sink; each has some of the members. */
export interface ComponentState {
  readonly status: string;
  readonly setup_time: string;
  readonly health: Health;
  readonly findings?: readonly Finding[];
  readonly accepted?: number;
  readonly refused?: number;
  readonly accepted_per_second?: number;
  readonly refused_per_second?: number;
  readonly in?: number;
  readonly out?: number;
  readonly in_per_second?: number;
  readonly out_per_second?: number;
  readonly events?: number;
  readonly capacity?: number;
  readonly bytes?: number;
  readonly oldest?: string;
  readonly oldest_exact?: boolean;
  readonly seconds_until_full?: number;
  readonly ledger?: ChannelLedger;
  readonly log?: SharedLog;
  readonly processed?: number;
  readonly stored?: number;
  readonly processed_per_second?: number;
  readonly stored_per_second?: number;
}

/** The log of a channel that agents share. */
export interface SharedLog {
  readonly engine: string;
  readonly group: string;
  readonly agents: readonly { readonly run: string }[];
  readonly appended?: number;
  readonly dead_lettered?: number;
  readonly unaccounted?: number;
  readonly num_partitions: number;
  readonly num_unattended: number;
  readonly partitions: readonly Partition[];
}

export interface Partition {
  readonly partition: string;
  readonly agent?: string;
  readonly mine: boolean;
  readonly waiting?: number;
  readonly exact: boolean;
  readonly oldest?: string;
}

export interface Finding {
  readonly state: string;
  readonly reason: string;
  readonly since: string;
}

export interface ChannelLedger {
  readonly received: number;
  readonly stored: number;
  readonly dead_lettered: number;
  readonly filtered: number;
  readonly uncounted: number;
  readonly lost: number;
  readonly waiting?: number;
  readonly unaccounted?: number;
}

export interface LetterCounts {
  readonly sink: string;
  readonly waiting: number;
  readonly replaying: number;
  readonly permanent: number;
  readonly retries_exhausted: number;
  readonly crashed_the_agent: number;
  readonly stopped: number;
  readonly bytes: number;
  readonly oldest?: string;
}
