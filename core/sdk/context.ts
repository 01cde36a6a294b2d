import type { TextCodec } from "./kept-text.js";
import type { Receipt } from "./sink.js";
import type { Emit, Receive, SourceRefusal } from "./source.js";

/**
 * Writes log lines; the name of the component is already bound. Static message, fields first, never a secret or a body.
 * @stable
 */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/**
 * What a component says about itself. Readiness and statistics show a report that is not `up` once it has lasted ten seconds.
 * @stable
 */
export interface HealthReport {
  /** `down` makes the agent not ready, `degraded` is shown and does not. */
  readonly state: "up" | "degraded" | "down";
  /** For people; without secrets. */
  readonly reason?: string;
  /** True for what does not pass by itself: it counts at once, and anything else after ten seconds. */
  readonly lasting?: boolean;
}

/** Values of the labels of a metric. Each combination beyond 100 is counted as `(other)`. @stable */
export type MetricLabels = Readonly<Record<string, string>>;

/** A count that only grows. @stable */
export interface MetricCounter {
  /** Adds `by`, 1 when absent. */
  add(by?: number, labels?: MetricLabels): void;
}

/** A value that goes up and down. @stable */
export interface MetricGauge {
  set(value: number, labels?: MetricLabels): void;
}

/** How often values were up to which bounds, for example times. @stable */
export interface MetricHistogram {
  observe(value: number, labels?: MetricLabels): void;
}

/**
 * Makes metrics of a component. They appear as `deneb_plugin_<name>` with the label `component` and are 0 before the first
 * event. Names and labels are lower-case letters, digits and underscores. The same name with the same labels returns the
 * same metric; other components may use it with other labels, but only for the same kind of metric. Throws code
 * `METRIC_UNUSABLE`.
 * @stable
 */
export interface Metrics {
  counter(name: string, help: string, labels?: readonly string[]): MetricCounter;
  gauge(name: string, help: string, labels?: readonly string[]): MetricGauge;
  /** `buckets` are 1 to 50 upper bounds, ascending. */
  histogram(name: string, help: string, buckets: readonly number[], labels?: readonly string[]): MetricHistogram;
}

/** What every component is given besides its configuration. @stable */
export interface Context {
  /** Name of the component as written in the configuration. */
  readonly name: string;
  /** Name of its agent as written in the configuration; absent without one, as in `deneb sql` without a file. */
  readonly agent?: string;
  readonly log: Logger;
  /** Folder in which a component may keep files; it exists once the component starts. */
  readonly dataDir: string;
  /**
   * Identifies this run of the agent in external stores: host, process, start time and a random part, separated by commas.
   * The same for all components of a process and never reused.
   */
  readonly run: string;
  now(): Date;
  /**
   * Reports the health of the component; the latest report counts until the component is replaced. Absent where nothing
   * runs, as in `deneb sql`.
   */
  report?(health: HealthReport): void;
  /** Absent where nothing runs. */
  readonly metrics?: Metrics;
}

/** One accounted request: the sizes of request and answer in bytes. @stable */
export interface IncomingTransaction extends Receipt {
  readonly service: string;
  readonly servicePath: string;
  readonly failed: boolean;
  /** From the reception of the request to its answer, where the source measures it. */
  readonly milliseconds?: number;
}

/** What a source is given: a {@link Context}, the way to its channels and the components in its slots. @stable */
export interface SourceContext<Slots> extends Context {
  /** Decodes a request by the handler in a slot of the source, and accounts it; rejects when the source has no handler. */
  readonly receive: Receive;
  /** Accounts, counts and logs a request that the source itself refused. */
  refused(refusal: SourceRefusal): void;
  /** For a source that makes events without a handler. */
  readonly emit: Emit;
  /** The components nested in this one, by slot name. */
  readonly slots: Slots;
  /** Accounts one finished request whose events were emitted by `emit`. */
  incoming(transaction: IncomingTransaction): void;
}

/** A folder that is kept for this process until it is released or the process ends. @stable */
export interface FolderLock {
  /** Safe to call twice. */
  release(): Promise<void>;
}

/** What goes with the lock of a folder. */
export interface FolderClaim {
  /**
   * Tells the names of the component's files in the folder. Of these, and of a folder that holds nothing else, the
   * permissions of group and others are taken away.
   */
  readonly owns?: (name: string) => boolean;
  /** What an operator can do when the folder cannot be had; ends the message of the error. */
  readonly remedy?: string;
  /** Ends the wait for another process. */
  readonly signal?: AbortSignal;
}

/** What a channel is given. @stable */
export interface ChannelContext extends Context {
  /**
   * Makes the folder when it is missing, readable for its owner alone, and locks it by the kernel: the lock ends with the
   * process, and neither host names nor containers matter. Waits a while for another process that holds it, then rejects
   * with code `FOLDER_IN_USE`; at once when another component of this process holds it. A file `deneb.lock` stays there.
   */
  lockFolder(folder: string, claim?: FolderClaim): Promise<FolderLock>;
  /** What reads kept texts, see `keptTextOf`; absent: keep the bodies themselves. Beta. */
  readonly textCodecs?: readonly TextCodec[];
  /**
   * True where sinks take from the channel: each tells what it has stored, by `Channel.skipTo`, before it takes for the first time. Absent: not
   * known. Beta.
   */
  readonly hasSinks?: boolean;
  /**
   * By partition of the log with this id, the newest offset that the channel has seen: what it sets is kept over restarts with the books of
   * the agent, a second later at the latest. Empty for another log than before. Absent: nothing is kept. Beta.
   */
  reached?(log: string): Map<number, number>;
}

/** What a channel selector is given besides its configuration. @stable */
export interface SelectorContext extends Context {
  /** The channels of the source, in the order of the configuration. */
  readonly channels: readonly string[];
}
