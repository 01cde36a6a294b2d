import {
  AgentError,
  type AnyPlugin,
  type Channel,
  type ChannelPart,
  type Event,
  type LogSummary,
  onAbort,
  type PutTransaction,
  type SettledEvents,
  type SharedLetterListener,
  type SharedLetters,
  type TakeTransaction,
} from "../../core/sdk/index.js";

/** A log in memory that several agents share. Each channel over it is one agent. */
export class SharedLog {
  readonly id: string;
  readonly parts: readonly LogPart[];
  readonly channels: SharedChannel[] = [];
  readonly letters: { readonly offset: number; readonly text: string }[] = [];
  readonly books = { stored: 0, deadLettered: 0, filtered: 0 };
  /** Why it cannot be reached. */
  unreachable: string | undefined;
  /** The longest text of one entry. */
  largestEntry = Number.POSITIVE_INFINITY;
  nextLetter = 0;
  #waiting: (() => void)[] = [];
  readonly #created: SharedChannel[] = [];

  constructor(parts = 2, id = "shared-log") {
    this.id = id;
    this.parts = Array.from({ length: parts }, (_, number) => ({ number, events: [], passed: 0 }));
  }

  /** What the configuration of an agent names as the type of its channel. */
  readonly plugin: AnyPlugin = {
    kind: "channel",
    type: "shared",
    summary: "A log in memory that agents share.",
    stability: "beta",
    takers: "one",
    feeders: "others",
    config: {},
    create: () => {
      const channel = new SharedChannel(this);
      this.#created.push(channel);
      return channel;
    },
  };

  /** How many channels there were. */
  get created(): number {
    return this.#created.length;
  }

  isDead(at: number): boolean {
    return this.#created[at]?.isDead === true;
  }

  ownerOf({ number }: LogPart): SharedChannel | undefined {
    return this.channels[number % Math.max(1, this.channels.length)];
  }

  /** The agent ends without a word: what it holds is not committed, and others take its parts. */
  kill(channel: SharedChannel | undefined): void {
    const at = channel === undefined ? -1 : this.channels.indexOf(channel);
    if (at !== -1) this.channels.splice(at, 1);
    if (channel !== undefined) channel.isDead = true;
    this.wake();
  }

  wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  /** Resolves at the next change, or when the signal aborts. */
  async changed(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    await new Promise<void>((resolve) => {
      const stopListening = onAbort(signal, () => resolve());
      this.#waiting.push(() => {
        stopListening();
        resolve();
      });
    });
  }

  check(): void {
    if (this.unreachable !== undefined) throw new AgentError("LOG_UNAVAILABLE", this.unreachable, { retryable: true });
  }

  summary(mine: SharedChannel): LogSummary {
    const appended = sum(this.parts.map(({ events }) => events.length));
    const waiting = sum(this.parts.map(({ events, passed }) => events.length - passed));
    const { stored, deadLettered, filtered } = this.books;
    const unaccounted = appended - waiting - stored - deadLettered - filtered;
    const agents = this.channels.map((channel) => ({
      run: channel.run,
      since: channel.since,
      parts: this.parts.filter((part) => this.ownerOf(part) === channel).length,
      mine: channel === mine,
    }));
    const books = { appended, stored, deadLettered, filtered, lost: 0, waiting, unaccounted, exact: true };
    const { unreachable } = this;
    const reach = { unreachable, unreachableSince: unreachable === undefined ? undefined : 0 };
    return { engine: "memory", id: this.id, group: "deneb", agents, ...books, ...reach };
  }
}

interface LogPart {
  readonly number: number;
  readonly events: Event[];
  passed: number;
}

let channels = 0;

/** One agent's channel over a shared log. */
export class SharedChannel implements Channel {
  readonly sizeIs = "shared";
  readonly durable = true;
  readonly transactionCapacity = 100;
  readonly run: string;
  readonly since: number;
  readonly shared: SharedLog;
  readonly #letters: SharedLetters;
  readonly #stopping = new AbortController();
  /** True once it was killed: nothing that it does reaches the log any more. */
  isDead = false;
  /** The entries of the shared letters up to here were followed. */
  followed = 0;
  /** By part: the next event to be taken, and from which entry of the letters on that may be. */
  readonly #next = new Map<LogPart, { at: number; readonly letters: number }>();

  constructor(shared: SharedLog) {
    channels += 1;
    this.run = `host,${channels}`;
    this.since = channels;
    this.shared = shared;
    this.#letters = new MemoryLetters(this);
  }

  get size(): number {
    return sum(this.shared.parts.map(({ events, passed }) => events.length - passed));
  }

  get letters(): SharedLetters | undefined {
    return this.shared.channels.includes(this) || this.isDead ? this.#letters : undefined;
  }

  /** It starts while the log cannot be reached, too, and opens it later. */
  async start(): Promise<void> {
    if (this.shared.unreachable === undefined) this.#open();
    else void this.#openLater();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.shared.kill(this);
  }

  async #openLater(): Promise<void> {
    const { signal } = this.#stopping;
    while (this.shared.unreachable !== undefined && !signal.aborted) await this.shared.changed(signal);
    if (!signal.aborted) this.#open();
  }

  #open(): void {
    this.shared.channels.push(this);
    this.shared.wake();
  }

  parts(): readonly ChannelPart[] {
    return this.shared.parts.map((part) => {
      const owner = this.shared.ownerOf(part);
      const waiting = part.events.length - part.passed;
      const oldest = waiting === 0 ? undefined : 1_000;
      const counts = { waiting, exact: true, oldest, appended: part.events.length, passed: part.passed, lost: 0 };
      return { part: String(part.number), agent: owner?.run, mine: owner === this, ...counts };
    });
  }

  log(): LogSummary | undefined {
    return this.shared.channels.includes(this) ? this.shared.summary(this) : undefined;
  }

  openPut(): PutTransaction {
    const events: Event[] = [];
    return {
      put: (event) => events.push(event),
      commit: async () => {
        this.shared.check();
        if (this.isDead) throw new AgentError("LOG_UNAVAILABLE", "putting in an agent that ended", { retryable: true });
        for (const event of events) partOf(this.shared, event).events.push(event);
        this.shared.wake();
      },
      rollback: async () => {},
    };
  }

  openTake(): TakeTransaction {
    return new SharedTake(this);
  }

  /** The next events of a part of this agent; undefined when there are none, or it may not take them yet. */
  taken(
    max: number,
    only?: LogPart,
  ): { readonly part: LogPart; readonly from: number; readonly events: readonly Event[] } | undefined {
    for (const part of only === undefined ? this.shared.parts : [only]) {
      if (this.shared.ownerOf(part) !== this) {
        this.#next.delete(part);
        continue;
      }
      const next = this.#next.get(part) ?? { at: part.passed, letters: this.shared.nextLetter };
      this.#next.set(part, next);
      const events = part.events.slice(next.at, next.at + max);
      if (events.length === 0 || this.followed < next.letters) continue;
      const from = next.at;
      next.at += events.length;
      return { part, from, events };
    }
    return undefined;
  }

  giveBack(part: LogPart, from: number): void {
    const next = this.#next.get(part);
    if (next !== undefined) next.at = from;
  }
}

class SharedTake implements TakeTransaction {
  readonly #channel: SharedChannel;
  readonly #events: Event[] = [];
  #part: LogPart | undefined;
  #from = 0;
  #settled: SettledEvents = { stored: 0, elsewhere: 0, deadLettered: 0, filtered: 0 };

  constructor(channel: SharedChannel) {
    this.#channel = channel;
  }

  get positions() {
    const { shared } = this.#channel;
    return {
      after: (count: number) => `${shared.id}:${this.#part?.number}:${this.#from + count}`,
      coveredBy: () => [],
      idOf: (event: Event) => {
        const at = this.#events.indexOf(event);
        return at === -1 ? undefined : `${shared.id}.${this.#part?.number}.${this.#from + at}`;
      },
    };
  }

  async take(max: number, signal: AbortSignal): Promise<readonly Event[]> {
    for (;;) {
      const found = this.#channel.taken(max, this.#part);
      if (found !== undefined) {
        if (this.#part === undefined) this.#from = found.from;
        this.#part = found.part;
        this.#events.push(...found.events);
        return found.events;
      }
      if (signal.aborted) return [];
      await this.#channel.shared.changed(signal);
    }
  }

  settled(events: SettledEvents): void {
    this.#settled = events;
  }

  async commit(): Promise<void> {
    const { shared } = this.#channel;
    shared.check();
    const part = this.#part;
    // Another agent works on it now: what this one did does not count.
    if (part === undefined || shared.ownerOf(part) !== this.#channel || part.passed !== this.#from) return;
    part.passed += this.#events.length;
    for (const name of ["stored", "deadLettered", "filtered"] as const) shared.books[name] += this.#settled[name];
    shared.books.stored += this.#settled.elsewhere;
  }

  async rollback(): Promise<void> {
    if (this.#part !== undefined) this.#channel.giveBack(this.#part, this.#from);
  }
}

/** The letters of one agent. */
class MemoryLetters implements SharedLetters {
  readonly #channel: SharedChannel;

  constructor(channel: SharedChannel) {
    this.#channel = channel;
  }

  async append(texts: readonly string[]): Promise<void> {
    const { shared } = this.#channel;
    for (const text of texts) {
      shared.check();
      if (this.#channel.isDead)
        throw new AgentError("LOG_UNAVAILABLE", "appending in an agent that ended", { retryable: true });
      if (text.length > shared.largestEntry) {
        throw new AgentError("RECORD_TOO_LARGE", "appending an entry: it is too large", { retryable: false });
      }
      shared.letters.push({ offset: shared.nextLetter, text });
      shared.nextLetter += 1;
    }
    shared.wake();
  }

  async follow(from: number, listener: SharedLetterListener, signal: AbortSignal): Promise<void> {
    const { shared } = this.#channel;
    const end = shared.nextLetter;
    let isCaughtUp = false;
    let next = from;
    while (!signal.aborted && !this.#channel.isDead) {
      shared.check();
      const entries = shared.letters.filter(({ offset }) => offset >= next).slice(0, 3);
      if (entries.length > 0) await listener.entries(entries);
      next = (entries.at(-1)?.offset ?? next - 1) + 1;
      this.#channel.followed = Math.max(entries.length === 0 ? shared.nextLetter : next, this.#channel.followed);
      if (!isCaughtUp && (next >= end || entries.length === 0)) {
        isCaughtUp = true;
        listener.caughtUp();
      }
      if (entries.length > 0) shared.wake();
      else if (next >= shared.nextLetter) await shared.changed(signal);
    }
  }

  async caughtUp(): Promise<void> {
    const { shared } = this.#channel;
    shared.check();
    const { nextLetter } = shared;
    const signal = AbortSignal.timeout(10_000);
    while (this.#channel.followed < nextLetter && !signal.aborted) await shared.changed(signal);
  }

  async forget(before: number): Promise<void> {
    const { shared } = this.#channel;
    const left = shared.letters.filter(({ offset }) => offset >= before);
    shared.letters.splice(0, shared.letters.length, ...left);
  }
}

/** Each entity keeps its order. */
function partOf(log: SharedLog, { body }: Event): LogPart {
  const id = typeof body === "object" && body !== null ? String(Reflect.get(body, "id")) : String(body);
  const number = [...id].reduce((total, character) => total + (character.codePointAt(0) ?? 0), 0);
  const [first] = log.parts;
  const part = log.parts[number % log.parts.length] ?? first;
  if (part === undefined) throw new Error("a log without parts");
  return part;
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
