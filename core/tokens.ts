import type { InjectionToken } from "tsyringe";
import type {
  AnyPlugin,
  Event,
  InboundRequest,
  IncomingTransaction,
  Kind,
  Logger,
  Property,
  Receipt,
  Reception,
  Sender,
} from "./sdk/index.js";
import type { TraceFields } from "./sdk/trace-context.js";

/** A plugin definition and the file it came from. */
export interface CataloguedPlugin {
  readonly definition: AnyPlugin;
  /** Path of the index file, or the package name. */
  readonly origin: string;
  /** Its folder, symbolic links resolved; absent for a plugin of the program itself. */
  readonly folder?: string;
}

/** A plugin that was found and is not used. */
export interface LeftOutPlugin {
  /** Path of the index file, or the package name. */
  readonly origin: string;
  /** What it declares, as far as that could be read. */
  readonly kind?: unknown;
  readonly type?: unknown;
  readonly cause: string;
  /** What to do about it. */
  readonly remedy: string;
}

/** What the configuration knows of properties, by which the registry judges those that a plugin declares. */
export interface DeclarationRules {
  /** By kind, the names of settings that the kernel reads of each component itself. */
  readonly reserved: ReadonlyMap<string, readonly string[]>;
  /** Why the default is no value of the property, such as `must be a whole number`; undefined when it is one. */
  defaultFault(property: Property): string | undefined;
  /** The known name that was probably meant. */
  nearest(name: string, known: readonly string[]): string | undefined;
}

/** The plugins that were found, by kind and type. */
export interface PluginCatalogue {
  /** By type or alias, in any letter case. */
  find(kind: Kind, type: string): AnyPlugin | undefined;
  /** Sorted by kind, then type. */
  list(): readonly CataloguedPlugin[];
  /** The names beside the types by which plugins of a kind are found. */
  aliases(kind: Kind): readonly string[];
  /** Those that were found and are not used; absent: none. */
  readonly leftOut?: readonly LeftOutPlugin[];
}

/** How much a service may send: a bucket of `burst` events that is filled with `eventsPerSecond`. */
export interface Quota {
  /** 0: nothing is accepted. */
  readonly eventsPerSecond: number;
  readonly burst: number;
}

/** The quotas of one source; their properties are in core/configuration/schema/component-properties.ts. */
export interface SourceQuota {
  /** Of services without one of their own; undefined: these have no limit. */
  readonly usual: Quota | undefined;
  /** By service in lower case; undefined as its quota: it has no limit. */
  readonly services: Readonly<Record<string, Quota | undefined>>;
  /** Most services without a quota of their own whose events are counted by themselves. */
  readonly mostServices: number;
}

/** Creates the logger of a component or room, its name bound. */
export interface Loggers {
  of(component: string): Logger;
}
export const LOGGERS: InjectionToken<Loggers> = Symbol("Loggers");

/** `now` is passed on as a function: it must not need `this`. */
export interface Clock {
  readonly now: () => Date;
}
export const CLOCK: InjectionToken<Clock> = Symbol("Clock");

export const systemClock: Clock = { now: () => new Date() };

/** The milliseconds that a clock shows; of the clock of the machine without a date, which would take longer to make than to read. */
export function millisOf(now: Clock["now"]): () => number {
  return now === systemClock.now ? Date.now : () => now().getTime();
}

/** One call of a sink. */
export interface WriteAttempt {
  readonly sink: string;
  readonly events: readonly Event[];
  readonly startedAt: Date;
  readonly finishedAt: Date;
  /** Undefined when the call failed. */
  readonly receipt: Receipt | undefined;
  /** What a call that failed threw. */
  readonly error?: unknown;
}

/** Observes what passes through an agent. */
export interface TransactionObserver {
  received(source: string, transaction: IncomingTransaction): void;
  /** A request that was refused; `received` is called for it as well. Without a service where that is not known. */
  refused?(
    source: string,
    refusal: { readonly status: number; readonly cause: string; readonly service?: string },
  ): void;
  /** Events of a source for which its selector chose no channel. */
  unrouted?(source: string, events: number): void;
  attempted(attempt: WriteAttempt): void;
  /** Events that a sink will not store any more. */
  givenUp(sink: string, events: readonly Event[]): void;
}

/** An observer that forwards each call to those of the others that observe it. */
export function observers(all: readonly Partial<TransactionObserver>[]): TransactionObserver {
  return {
    received: (source, transaction) => {
      for (const one of all) one.received?.(source, transaction);
    },
    unrouted: (source, events) => {
      for (const one of all) one.unrouted?.(source, events);
    },
    refused: (source, refusal) => {
      for (const one of all) one.refused?.(source, refusal);
    },
    attempted: (attempt) => {
      for (const one of all) one.attempted?.(attempt);
    },
    givenUp: (sink, events) => {
      for (const one of all) one.givenUp?.(sink, events);
    },
  };
}

/** How many spans ended in each way, and how many wait for their export. */
export interface SpanCounts {
  readonly exported: number;
  /** Those that the collector did not take. */
  readonly failed: number;
  /** Those for which the queue had no room. */
  readonly dropped: number;
  readonly waiting: number;
}

/** Follows notifications from their reception to the store. Whoever has none does not trace. */
export interface Tracing {
  /** A source hands over a request; undefined when it is not sampled. */
  request(source: string, request: InboundRequest): RequestTrace | undefined;
  /** A batch is on its way to a sink; undefined when no event of it is of a sampled notification. */
  delivery(batch: TracedBatch): DeliveryTrace | undefined;
  readonly counts: SpanCounts;
}

export interface TracedBatch {
  /** The sink or the group. */
  readonly sink: string;
  readonly channel: string;
  readonly events: readonly Event[];
}

/** The span of one request. */
export interface RequestTrace {
  readonly fields: TraceFields;
  /** What each event of the request is to carry. */
  readonly headers: Readonly<Record<string, string>>;
  /** Ends it. What the handler did not find out is absent. */
  ended(reception: Reception, found: { readonly sender?: Sender; readonly events?: readonly Event[] }): void;
  /** Ends it when the receiver threw. */
  failed(error: unknown): void;
}

/** The span of one batch. */
export interface DeliveryTrace {
  readonly fields: TraceFields;
  readonly traceparent: string;
  /** A write stored these events. */
  stored(events: number): void;
  failed(write: FailedWrite): void;
  deadLettered(events: number, error: unknown): void;
  /** Ends it; with an error the batch goes back into its channel. */
  ended(givenBack?: { readonly error: unknown }): void;
}

export interface FailedWrite {
  readonly attempt: number;
  /** Events that failed, and those that were stored nevertheless. */
  readonly events: number;
  readonly stored: number;
  readonly error: unknown;
}
