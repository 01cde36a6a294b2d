import { eventsOf } from "../../sdk/errors.js";
import { AgentError, codeOf, type Event, reasonOf, retryAfterOf, retryableOf } from "../../sdk/index.js";
import { isPositionFault } from "./kinds-of-failure.js";

/** The code for events that failed only because others of their batch did. */
const NOT_WRITTEN = "NOT_WRITTEN";

/** A failure of a sink that names its events: the others of the write are stored. Says whether those that are left may pass. */
export class NamedFailure extends Error {
  readonly code: string | undefined;
  /** Undefined when no error says it of the events that are left. */
  readonly retryable: boolean | undefined;
  readonly retryAfter: number | undefined;
  /** Why each of them failed. */
  readonly failed: ReadonlyMap<Event, unknown>;
  /** The events that are the reason that the others failed, too; none where no event says so. */
  readonly suspects: readonly Event[];
  /** The events that the store will never accept. */
  readonly refused: readonly Event[];

  constructor(cause: unknown, failed: ReadonlyMap<Event, unknown>) {
    const says = (event: Event) => retryableOf(failed.get(event)) ?? retryableOf(cause);
    const events = [...failed.keys()];
    const refused = events.filter((event) => says(event) === false);
    const others = events.map(says).filter((retryable) => retryable !== false);
    super(cause instanceof Error ? cause.message : reasonOf(cause), { cause });
    this.code = codeOf(cause);
    this.retryable = others.length === 0 ? false : others.includes(true) || undefined;
    this.retryAfter = retryAfterOf(cause);
    this.failed = failed;
    const own = events.filter((event) => codeOf(failed.get(event)) !== NOT_WRITTEN);
    this.suspects = own.length === events.length ? [] : own;
    this.refused = refused;
  }
}

interface Attempted {
  readonly events: readonly Event[];
  /** The sink stores positions, so that a batch of it is all or nothing. */
  readonly keepsPositions: boolean;
}

/** The error itself, or what it says about the events of a write; names that cannot be used are an error of their own. */
export function understood(error: unknown, attempted: Attempted): unknown {
  const events = eventsOf(error);
  if (events === undefined || isPositionFault(error)) return error;
  const failed = reasonsIn(events, error);
  const wrong = failed === undefined ? "they are no list and no Map" : wrongWith(failed, attempted);
  if (failed !== undefined && wrong === undefined) return new NamedFailure(error, failed);
  const message = `reading which events of a batch failed: ${wrong}; the whole batch counts as failed`;
  return new AgentError("FAILED_EVENTS_INVALID", message, { retryable: retryableOf(error) ?? true, cause: error });
}

/** The events of a write that are stored although it failed. */
export function storedDespite(error: unknown, events: readonly Event[]): readonly Event[] {
  const answer = codeOf(error) === "TIMED_OUT" && error instanceof Error ? error.cause : error;
  return answer instanceof NamedFailure ? events.filter((event) => !answer.failed.has(event)) : [];
}

/** What is known of the failure of one event. */
export function errorOf(error: unknown, event: Event): { readonly message: string; readonly code?: string } {
  const own = error instanceof NamedFailure ? error.failed.get(event) : error;
  const code = codeOf(own) ?? codeOf(error);
  return { ...(code === undefined ? {} : { code }), message: reasonOf(own) };
}

function reasonsIn(events: unknown, error: unknown): ReadonlyMap<Event, unknown> | undefined {
  if (events instanceof Map) return new Map([...events].map(([event, own]) => [event, own ?? error]));
  return Array.isArray(events) ? new Map(events.map((event) => [event, error])) : undefined;
}

function wrongWith(failed: ReadonlyMap<Event, unknown>, { events, keepsPositions }: Attempted): string | undefined {
  if (failed.size === 0) return "it names none; leave `events` out when the whole batch failed";
  const own = new Set(events);
  const others = [...failed.keys()].filter((event) => !own.has(event)).length;
  if (others > 0)
    return `${others} of the ${failed.size} it names are not in the batch; name the objects of the batch, not copies`;
  if (!keepsPositions || failed.size === own.size) return undefined;
  return `it names ${failed.size} of ${own.size}, and the sink stores positions, which would cover the failed ones; name all or none`;
}
