import { setTimeout as pause } from "node:timers/promises";
import { breath } from "./measure.js";

/** What became of the rows that clients asked for, as `entity:number`. */
export interface Counted {
  /** Of notifications answered 200: each must be stored exactly once, those of an entity in this order. */
  readonly accepted: ReadonlySet<string>;
  /** Of those without an answer, or refused: each may be stored once. */
  readonly others: ReadonlySet<string>;
}

const ENTITIES = 8;
/** Every such notification is of several entities. */
const EVERY = 4;
const ANSWER_MILLIS = 2500;
/** A load balancer leaves an agent out that long after it did not accept. */
const AVOIDED_MILLIS = 300;

/**
 * Clients that count up: each has entities of its own and sends its notifications one after another, each once and to any
 * agent that accepts, as brokers behind a load balancer do.
 */
export class CountingClients {
  readonly #urls: readonly string[];
  readonly #random: () => number;
  readonly #accepted = new Set<string>();
  readonly #others = new Set<string>();
  readonly #avoided = new Map<string, number>();
  readonly #loops: readonly Promise<void>[];
  #notifications = 0;
  #isStopped = false;

  constructor(urls: readonly string[], count: number, random: () => number) {
    this.#urls = urls;
    this.#random = random;
    this.#loops = Array.from({ length: count }, (_, client) => this.#run(client));
  }

  /** Notifications. */
  get accepted(): number {
    return this.#notifications;
  }

  async stop(): Promise<Counted> {
    this.#isStopped = true;
    await Promise.all(this.#loops);
    return { accepted: this.#accepted, others: this.#others };
  }

  async #run(client: number): Promise<void> {
    for (let number = 1; !this.#isStopped; number += 1) {
      const first = number % ENTITIES;
      const several = number % EVERY === 0 ? 3 : 1;
      const ids = Array.from({ length: several }, (_, at) => `urn:room:${client}:${(first + at) % ENTITIES}`);
      const isAccepted = await this.#post(ids, number);
      const own = isAccepted ? this.#accepted : this.#others;
      for (const id of ids) own.add(`${id}:${number}`);
      if (isAccepted) this.#notifications += 1;
      await pause(isAccepted ? breath : 20);
    }
  }

  async #post(ids: readonly string[], number: number): Promise<boolean> {
    const url = this.#next();
    const data = ids.map((id) => ({ id, type: "Room", number: { type: "Property", value: number } }));
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: { "Content-Type": "application/json", "Fiware-Service": "crash" },
        body: JSON.stringify({ type: "Notification", subscriptionId: "urn:s:1", data }),
        signal: AbortSignal.timeout(ANSWER_MILLIS),
      });
      await response.arrayBuffer();
      if (response.status === 200) return true;
    } catch {
      // It was killed, or does not answer in time.
    }
    this.#avoided.set(url, performance.now() + AVOIDED_MILLIS);
    return false;
  }

  #next(): string {
    const now = performance.now();
    const good = this.#urls.filter((url) => (this.#avoided.get(url) ?? 0) < now);
    const choice = good.length > 0 ? good : this.#urls;
    return choice[Math.floor(this.#random() * choice.length)] ?? "";
  }
}
