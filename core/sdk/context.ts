import type { Receive, SourceRefusal } from "./reception.js";
import type { Receipt } from "./sink.js";
import type { Emit } from "./source.js";

/** Writes log lines; the name of the component is already bound. Static message, fields first, never a secret or a body. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** What every component is given besides its configuration. */
export interface Context {
  /** Name of the component as written in the configuration. */
  readonly name: string;
  readonly log: Logger;
  /** Folder in which a component may keep files; it exists once the component starts. */
  readonly dataDir: string;
  now(): Date;
}

/** One request as it is accounted: sizes in bytes of request and answer. */
export interface IncomingTransaction extends Receipt {
  readonly service: string;
  readonly servicePath: string;
  readonly failed: boolean;
  /** From the reception of the request to its answer, where the source measures it. */
  readonly milliseconds?: number;
}

/** What a source is given: a {@link Context}, the way to its channels and the components in its slots. */
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

/** What a channel selector is given besides its configuration. */
export interface SelectorContext extends Context {
  /** The channels of the source, in the order of the configuration. */
  readonly channels: readonly string[];
}
