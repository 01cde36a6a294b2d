/**
 * A part of a channel that agents share: it keeps an order of its own, and one agent at a time works on it. What is not known
 * at the moment is undefined.
 * @beta
 */
export interface ChannelPart {
  /** Its name or number, the same for all agents. */
  readonly part: string;
  /** The run of the agent that works on it; undefined when none does. */
  readonly agent: string | undefined;
  /** True when this agent works on it. */
  readonly mine: boolean;
  /** Events that were appended and are not done. */
  readonly waiting: number | undefined;
  /** Whether `waiting` is exact; else it is an estimate, for example from offsets with gaps. */
  readonly exact: boolean;
  /** When the oldest waiting event was accepted, in milliseconds since 1970; undefined, too, when none waits. */
  readonly oldest: number | undefined;
  /** Events that were appended, by all agents, since the log was made; those that are lost are not among them. */
  readonly appended: number | undefined;
  /** Events that are done, by position: stored, dead-lettered or filtered, by any agent, since the log was made. */
  readonly passed: number | undefined;
  /** Events that were accepted and can no longer be read, at least: for example because the engine removed them too early. */
  readonly lost: number;
}

/** One of the agents that work on the parts of a channel. @beta */
export interface LogAgent {
  /** Identifies its run, as `Context.run` does. */
  readonly run: string;
  /** Since when it has been at work, in milliseconds since 1970. */
  readonly since: number;
  /** How many parts it works on. */
  readonly parts: number;
  /** True for this agent. */
  readonly mine: boolean;
}

/**
 * The log behind a channel that agents share, as a whole: what all agents put and took since it was made. In a log whose
 * books are right, `appended = stored + deadLettered + filtered + waiting`; what is lost is in none of these.
 * @beta
 */
export interface LogSummary {
  /** The kind of engine, for example `kafka`. */
  readonly engine: string;
  /** Names this log and no other: see `LogFacts.id` of deneb/log. */
  readonly id: string;
  /** Whose positions these are: agents of one group share the work, each group gets all events. */
  readonly group: string;
  /** The agents that are alive, those first that were there first: this one included once it takes part. */
  readonly agents: readonly LogAgent[];
  readonly appended: number | undefined;
  readonly stored: number | undefined;
  readonly deadLettered: number | undefined;
  readonly filtered: number | undefined;
  /** Of all events, those that this agent has found to be lost since it opened the log, at least: a log does not tell how many it removed. */
  readonly lost: number;
  /** The parts of which this agent has found that records are gone without a number of them; none when absent. */
  readonly uncounted?: readonly string[];
  readonly waiting: number | undefined;
  /** What of `appended` is none of the others; undefined while it cannot be told, and in books that are not exact. */
  readonly unaccounted: number | undefined;
  readonly exact: boolean;
  /** Why the log cannot be reached at the moment, for people; undefined while it can. */
  readonly unreachable: string | undefined;
  /** Since when that is so, in milliseconds since 1970. */
  readonly unreachableSince: number | undefined;
}

/** What became of events of one take transaction, in numbers of events. @beta */
export interface SettledEvents {
  readonly stored: number;
  /** Stored by another agent, which was faster. */
  readonly elsewhere: number;
  readonly deadLettered: number;
  readonly filtered: number;
}

/** One entry of the dead letters that agents share. @beta */
export interface SharedLetter {
  /** Its place: larger than those of all entries before it; there may be gaps. */
  readonly offset: number;
  /** As it was appended. */
  readonly text: string;
}

/** What follows the shared dead letters. @beta */
export interface SharedLetterListener {
  /** The next entries, in order. The ones after them come when its promise resolves; when it rejects, `follow` does. */
  entries(entries: readonly SharedLetter[]): Promise<void>;
  /** Called once: all entries that were there when `follow` began have been given to `entries`. */
  caughtUp(): void;
}

/**
 * Dead letters of a channel that agents share, kept where its events are: they survive the agent that wrote them. To the
 * channel an entry is a text; all agents of a group read the same ones in the same order. Groups over one log have letters of
 * their own each. To be used between `start` and `stop`.
 * @beta
 */
export interface SharedLetters {
  /**
   * Appends entries in order, after each other; resolves when all of them are as durable as the events of the channel. When
   * it rejects some may be there nevertheless. Rejects with code `RECORD_TOO_LARGE` (not retryable) when one never fits. Once the signal
   * has aborted they are no longer waited for, and none that is not on its way is appended: it would come behind what became of it meanwhile.
   */
  append(texts: readonly string[], signal?: AbortSignal): Promise<void>;
  /**
   * Gives the listener all entries from an offset on, those that come later included, until the signal aborts; then it
   * resolves. It rejects when the log cannot be read, and may be called again from the entry after the last one. A channel
   * that begins to work on a part gives no event of it to a take before the listener has had all entries that were there
   * at that time.
   */
  follow(from: number, listener: SharedLetterListener, signal: AbortSignal): Promise<void>;
  /**
   * Resolves when the listener has had all entries that are there now; rejects when the log cannot be asked. The agent calls it before a write,
   * once a second at most: while it was held up, other agents may have worked on its parts. Absent: it does not look again.
   */
  caughtUp?(): Promise<void>;
  /** The entries before this offset are of no use any more: they may be removed. */
  forget(before: number): Promise<void>;
}
