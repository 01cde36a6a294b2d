import type { PartitionedLog } from "../log/index.js";
import type { Channel, Event } from "../sdk/index.js";
import type { ChannelLimits } from "./channel-fixture.js";

/** Values of properties by name, typed as the component gets them. @stable */
export type Values = Readonly<Record<string, unknown>>;

/** What a conformance suite must know of a plugin; everything may be left out that the plugin does not have. @stable */
export interface PluginSetup {
  /** Values for properties without a default, and better ones for a test: a port 0, a file in the given empty folder. */
  config?(folder: string): Values;
  /** For a sink that stores: makes an empty store for one case. */
  openStore?(folder: string): Promise<ConformanceStore>;
  /** For a source: makes a way to send it something, for one case. */
  openInlet?(folder: string): Promise<ConformanceInlet>;
  /** For a handler: requests that it accepts. @beta */
  readonly accepted?: readonly AcceptedRequest[];
  /** Seconds that one case may take; 60 if absent. */
  readonly caseSeconds?: number;
  /** Of the random failures; another one in each run if absent. The name of the case has it. */
  readonly seed?: number;
  /** For a channel: the values that give it these limits. */
  limits?(limits: ChannelLimits, folder: string): Values;
  /** For a channel: what it promises beyond its limits. */
  readonly channel?: ChannelSetup;
  /** For a channel over deneb/log: the engine of its adapter, for one case. @beta */
  openLogs?(folder: string): ConformanceLogs | Promise<ConformanceLogs>;
}

/** A request that a handler makes events of. @beta */
export interface AcceptedRequest {
  /** `POST` when absent. */
  readonly method?: string;
  /** `/notify` when absent. */
  readonly path?: string;
  /** Names in lower case; none when absent. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

/** What a channel promises beyond its limits; what is absent is not promised, and not tested. @stable */
export interface ChannelSetup {
  /**
   * For a durable channel: where the cases find what outlives its process. `copied`: in the folder that `limits` gets; the
   * cases copy it while the channel works, and open another one over the copy. `same`: elsewhere, such as in a server; they
   * open another one with the same values, while the one before still has what it took, and its connections unless `abandon`
   * cuts them. `stop`: a crash
   * may lose events; only what a stop left is looked for.
   */
  readonly afterCrash?: "copied" | "same" | "stop" | undefined;
  /**
   * What two agents with the same values are. `refused`: the second one does not start. `shared`: each event goes to one of
   * them. Absent for a channel that has nothing in common with another one.
   */
  readonly twoAgents?: "refused" | "shared" | undefined;
  /**
   * Cuts the connection of a channel as a crash of its process would, without a stop: what it took is not given back, and
   * what it does afterwards fails. Needed with `afterCrash: "same"` where a second agent is `refused`, or does not get what the first one holds
   * while that one works, as over deneb/log. The cases stop the channel later, which must be safe. Absent: the previous channel keeps its connection.
   */
  abandon?(channel: Channel): void | Promise<void>;
}

/** The other side of a source, for one case. @stable */
export interface ConformanceInlet {
  /** The values with which the source is found, or finds it. */
  readonly config: Values;
  /**
   * Sends one request with this text as its body. True when the source, or a broker that keeps
   * it for the source, acknowledged it; false when it was refused.
   */
  send(text: string): Promise<boolean>;
  /**
   * For a source that connects to a broker over TCP: lets the cases end its connections. What was not acknowledged may be emitted again
   * then. @beta
   */
  readonly tcp?: StoreAddress;
  /** Ends the other side. */
  close(): Promise<void>;
}

/** An engine of logs, as its adapter and its operator see it. @beta */
export interface ConformanceLogs {
  /**
   * An adapter that is not open, with connections of its own. Those of one name have one log, which `open` makes with this number of
   * partitions when it is missing.
   */
  make(name: string, partitions: number): PartitionedLog | Promise<PartitionedLog>;
  /** Removes the log of this name, which no adapter has open, as an operator of the engine would. */
  remove(name: string): Promise<void>;
  /**
   * True where a record that comes again under its `name` is kept once, whichever adapter appends it: then this is tested. Where `append`
   * rejects with `LOG_UNANSWERED`, it has to be so for the adapter that did.
   */
  readonly keepsNames?: true;
  /** An adapter whose engine cannot be reached, at once: a closed port, for example. */
  unreachable?(): PartitionedLog | Promise<PartitionedLog>;
}

/** An empty store of a sink, for one case. @stable */
export interface ConformanceStore {
  /** The values with which the sink finds it. */
  readonly config: Values;
  /** The texts of the attribute `mark` of everything that is stored; those of one entity in the order of arrival. */
  readBack(): Promise<readonly string[]>;
  /** Values with which nothing can be reached, at once: a closed port, for example. */
  readonly unreachable?: Values;
  /** Ends the connections of the sink from the side of the store. */
  interrupt?(): Promise<void>;
  /** For a store behind TCP: lets the cases stop what goes between it and the sink. */
  readonly tcp?: StoreAddress;
  /**
   * True for a store that keeps the ids of events (`idOf` of deneb/sdk) and leaves out those that it has: what is written again is stored
   * once. @beta
   */
  readonly keepsIds?: true;
  /** Makes of an event one that the store will never take; its mark stays. */
  poisoned?(event: Event): Event;
  /** Removes the store. */
  close(): Promise<void>;
}

/** One thing that a component has to do. `run` rejects when it does not. @stable */
export interface ConformanceCase {
  readonly name: string;
  run(): Promise<void>;
}

/** Where a store, or the broker of a source, listens. @beta */
export interface StoreAddress {
  readonly host: string;
  readonly port: number;
  /** The values with which the component reaches it over this port of 127.0.0.1. */
  through(port: number): Values;
}
