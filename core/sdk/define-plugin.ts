import type { ApiVersions } from "./api-versions.js";
import type { Channel, ChannelSelector } from "./channel.js";
import type { ChannelContext, Context, SelectorContext, SourceContext } from "./context.js";
import type { Event, Interceptor } from "./event.js";
import type { Permissions } from "./permissions.js";
import type { ConfigOf, Schema, WithDefaults } from "./schema.js";
import type { Explanation, QueryResult, Sink, SinkProcessor } from "./sink.js";
import type { Handler, InboundRequest, Source } from "./source.js";
import type { StoredData } from "./stored-data.js";

/** The kinds of component and what `create` must return for each. @stable */
export interface Kinds {
  source: Source;
  handler: Handler;
  interceptor: Interceptor;
  channel: Channel;
  selector: ChannelSelector;
  sink: Sink;
  "sink-processor": SinkProcessor;
}

/** The name of a kind of component, as in `kind: "sink"`. @stable */
export type Kind = keyof Kinds;

/** Nested components by slot name: `{ handler: "handler" }` reads `handler = ngsi` and `handler.x = ...`. @stable */
export type Slots = Readonly<Record<string, Kind>>;

/** The components in the slots, by slot name. */
export type Filled<L extends Slots> = { readonly [K in keyof L]: Kinds[L[K]] };

/** What `create` is given for a kind of component. */
export type ContextOf<K extends Kind, L extends Slots> = K extends "source"
  ? SourceContext<Filled<L>>
  : K extends "selector"
    ? SelectorContext
    : K extends "channel"
      ? ChannelContext
      : Context;

/** What a plugin's index.ts exports as default: one definition, or a list of them. @stable */
export interface PluginDefinition<K extends Kind, S extends Schema, L extends Slots = Readonly<Record<never, never>>> {
  readonly kind: K;
  /** The name used in `type = ...`; lower case. */
  readonly type: string;
  /** Other names for the same type, for example the class names of existing files. */
  readonly aliases?: readonly string[];
  /** How files of a predecessor spell it. */
  readonly spellings?: readonly Spelling[];
  /** One sentence for lists and the reference. */
  readonly summary: string;
  readonly stability: "stable" | "beta" | "deprecated";
  /**
   * The {@link API_VERSION} it was made for, or the oldest and the newest one: `[1, 2]`; absent: 1. The agent serves its own
   * version and the one before, and leaves out a plugin that was made for others.
   */
  readonly apiVersion?: ApiVersions;
  /** What it uses outside the agent; absent: it does not say, and may use whatever the agent may. */
  readonly permissions?: Permissions;
  /** What a source or a handler refuses with which status; the metrics then show these causes with 0 before the first. */
  readonly refusals?: readonly DeclaredRefusal[];
  /**
   * Of a handler: why it would refuse every request with such headers, by the name of the header, and what would be right. A source
   * with the properties `content_type`, `service` and `service_path` is checked with it. Beta.
   */
  readonly refusedHeaders?: (
    config: ConfigOf<S>,
    headers: InboundRequest["headers"],
  ) => Readonly<Record<string, string>>;
  /**
   * Of a channel: `one` when at most one sink, or one sink group, may take from it, because it keeps one position. A
   * configuration with more is refused. Beta.
   */
  readonly takers?: "one";
  /** Of a channel: `others` when other agents or programs put events into it, too; it needs no source. Beta. */
  readonly feeders?: "others";
  /**
   * Where a component of this configuration runs when an agent has several workers (processes): in each, or in one, and why: a
   * part of a sentence that follows its name. Absent: a source in one, everything else in each. A configuration with a channel
   * or a sink that runs in one is refused for several workers. Beta.
   */
  readonly workers?: (config: ConfigOf<S>) => RunsIn;
  readonly config: S;
  /** Each slot must be filled in the configuration. */
  readonly slots?: L;
  /**
   * Faults that concern several properties at once, or values a format cannot judge; each names its property. `linked`
   * are the names among which the component chooses: for a selector the channels of its source, for a sink processor
   * the sinks of its group; undefined for other kinds, and where the configuration does not say.
   */
  readonly check?: (config: ConfigOf<S>, linked?: readonly string[]) => readonly PropertyFault<S>[];
  /** Makes the component. No I/O here: see the lifecycle law. */
  create(config: ConfigOf<S>, context: ContextOf<K, L>): Kinds[K];
  /**
   * The PEM files with certificates of its own that a component of this configuration uses; the metrics show when they expire, as
   * they are on disk. A component reads them again after they were replaced, at the latest when it connects again, or by {@link followFiles}.
   */
  readonly certificates?: (config: ConfigOf<S>) => readonly string[];
  /** Runs one read-only query against the store that this configuration of a sink points to (`deneb sql`). */
  readonly query?: (config: ConfigOf<S>, text: string, context: Context) => Promise<QueryResult>;
  /** Tells what a sink of this configuration would do with an event, without reaching any store (`deneb explain`). */
  readonly explain?: (config: ConfigOf<S>, event: Event, context: Context) => Promise<Explanation>;
  /**
   * Opens what commands do with the data that a sink of this configuration has stored (`deneb tables`); the name of the
   * context is that of the sink. The caller closes it. No agent need run, and one may. Beta.
   */
  readonly data?: (config: ConfigOf<S>, context: Context) => Promise<StoredData>;
}

/** In which workers of an agent a component runs: in each, or in one, with the reason. @beta */
export type RunsIn = "each" | { readonly one: string };

/** A refusal as the metrics name it: the status of the answer, and the cause of `Refused`. @stable */
export interface DeclaredRefusal {
  readonly status: number;
  readonly cause: string;
}

/** What a plugin's `check` says about one property of its schema. @stable */
export type PropertyFault<S extends Schema> = FaultOf<PropertyName<S>>;

/**
 * What `check` says about one of these names; the agent adds the line of the file. The names are texts, so that faults of a part
 * of a schema are faults of the whole one for TypeScript before 7, too. @stable
 */
export interface FaultOf<Name extends string> {
  /** A property, `<property>.<entry>` for an entry of a map or a field, or `type` when the type is the wrong one. */
  readonly property: Name | "type";
  /** What is wrong and what would be right. */
  readonly reason: string;
  /** For what has no effect, or another one than people expect: the component runs. Absent: an error. @beta */
  readonly severity?: "warning";
  /** Where a name is wrong: those that would be right. The agent adds the one that was probably meant. */
  readonly names?: readonly string[];
}

type PropertyName<S extends Schema> = {
  [K in keyof S & string]: S[K]["format"] extends "map"
    ? K | `${EntriesOf<K>}.${string}`
    : S[K]["format"] extends { readonly fields: infer Fields extends Schema }
      ? `${K}.${PropertyName<Fields>}`
      : K;
}[keyof S & string];

type EntriesOf<Name extends string> = Name extends `${infer Base}.*` ? Base : Name;

/** A definition whose schema and slots are not known to the reader: what the registry holds. @stable */
export interface AnyPlugin {
  readonly kind: Kind;
  readonly type: string;
  readonly aliases?: readonly string[];
  readonly spellings?: readonly Spelling[];
  readonly summary: string;
  readonly stability: "stable" | "beta" | "deprecated";
  readonly apiVersion?: ApiVersions;
  readonly permissions?: Permissions;
  readonly refusals?: readonly DeclaredRefusal[];
  refusedHeaders?(config: unknown, headers: InboundRequest["headers"]): Readonly<Record<string, string>>;
  readonly takers?: "one";
  readonly feeders?: "others";
  workers?(config: unknown): RunsIn;
  readonly config: Schema;
  readonly slots?: Slots;
  check?(config: unknown, linked?: readonly string[]): readonly FaultOf<string>[];
  create(config: unknown, context: unknown): unknown;
  certificates?(config: unknown): readonly string[];
  query?(config: unknown, text: string, context: Context): Promise<QueryResult>;
  explain?(config: unknown, event: Event, context: Context): Promise<Explanation>;
  data?(config: unknown, context: Context): Promise<StoredData>;
}

/**
 * Declares a plugin. The types of its configuration and slots are inferred from the schema; a default must be of its
 * format.
 * @stable
 */
export function definePlugin<
  K extends Kind,
  const S extends Schema & WithDefaults<S>,
  const L extends Slots = Readonly<Record<never, never>>,
>(definition: PluginDefinition<K, S, L>): PluginDefinition<K, S, L> {
  return Object.freeze(definition);
}

/**
 * How files written for a predecessor spell a plugin. A component is of a spelling when its type is written with one
 * of the names, or when its properties say what the names mean. Each old name that is used is reported with the new
 * one.
 * @stable
 */
export interface Spelling {
  /** Other names of the type, for example class names; each is one of the plugin's aliases too. */
  readonly types: readonly string[];
  /** What the names mean besides the type: properties, as text. They count unless the file gives them. */
  readonly means?: Readonly<Record<string, string>>;
  /** Defaults that were others there: properties, as text, that count with one of the names unless the file gives them. */
  readonly implies?: Readonly<Record<string, string>>;
  /** Beginnings of property names, and what each is now: `{ mysql_: "rdb_" }`. */
  readonly prefixes?: Readonly<Record<string, string>>;
  /** Environment variables and the property each overrides, unless the property's own variable is set. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Environment variables that name a file holding the value, and the property each overrides likewise. */
  readonly fileVariables?: Readonly<Record<string, string>>;
  /** Properties there that are none here, and what to do instead. */
  readonly without?: Readonly<Record<string, string>>;
  /** Properties whose text counted differently there; each is called with a text that the file or such a variable gives. */
  readonly rereads?: Readonly<Record<string, (text: string) => Reread | undefined>>;
  /** Improvements over the predecessor, a sentence each; `deneb migrate` prints them. */
  readonly better?: readonly string[];
  /** What is different from there, a sentence each. */
  readonly different?: readonly string[];
}

/** What is different about the text of a property, with one of the names of a {@link Spelling}. @stable */
export interface Reread {
  /** A part of a sentence that follows the property and its text: `is read as "db": the predecessor ignored capitals`. */
  readonly reason: string;
  /** The text that counts instead. Absent: the text as written, and the reason is reported as a warning. */
  readonly text?: string;
  /** True: nothing here does what the text asks for; the plugin refuses it, and `deneb migrate` leaves it out. */
  readonly missing?: boolean;
}

/**
 * The version of this contract. It rises when a plugin made for the version before would no longer work unless the
 * agent
 * serves that one, too; additions do not change it. A plugin says in `apiVersion` which ones it was made for.
 * @stable
 */
export const API_VERSION = 1;
