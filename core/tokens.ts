import type { InjectionToken } from "tsyringe";
import type { AnyPlugin, Event, IncomingTransaction, Kind, Logger, Property, Receipt } from "./sdk/index.js";

/** A plugin definition and the file it came from. */
export interface CataloguedPlugin {
  readonly definition: AnyPlugin;
  /** Path of the index file, or the package name. */
  readonly origin: string;
  /** Its folder, symbolic links resolved; absent for a plugin of the program itself. */
  readonly folder?: string;
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

/** One call of a sink. */
export interface WriteAttempt {
  readonly sink: string;
  readonly events: readonly Event[];
  readonly startedAt: Date;
  readonly finishedAt: Date;
  /** Undefined when the call failed. */
  readonly receipt: Receipt | undefined;
}

/** Observes what passes through an agent. */
export interface TransactionObserver {
  received(source: string, transaction: IncomingTransaction): void;
  /** A request that was refused; `received` is called for it as well. */
  refused?(source: string, refusal: { readonly status: number; readonly cause: string }): void;
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
