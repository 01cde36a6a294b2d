import { setTimeout as pause } from "node:timers/promises";
import { breath } from "./measure.js";

/** What became of the notifications that the clients sent, by number. */
export interface Sent {
  /** Answered 200: each must be stored exactly once. */
  readonly accepted: ReadonlySet<number>;
  /** Without an answer, or refused: each may be stored once. */
  readonly others: ReadonlySet<number>;
}

export interface Numbering {
  /** How many clients send at once. */
  readonly count: number;
  /** 1 unless told; clients of several agents send different numbers. */
  readonly first?: number;
  readonly step?: number;
  /** Each notification is of the next one of these services. */
  readonly services?: readonly string[];
}

const PAUSE_WITHOUT_AGENT_MILLISECONDS = 50;

/** Clients that send numbered notifications one after the other, through every crash, until they are stopped. */
export class Clients {
  readonly #url: string;
  readonly #services: readonly string[];
  readonly #accepted = new Set<number>();
  readonly #others = new Set<number>();
  readonly #loops: readonly Promise<void>[];
  readonly #step: number;
  #next: number;
  #stopped = false;

  constructor(url: string, { count, first = 1, step = 1, services = ["crash"] }: Numbering) {
    this.#url = url;
    this.#services = services;
    this.#step = step;
    this.#next = first;
    this.#loops = Array.from({ length: count }, () => this.#run());
  }

  get accepted(): number {
    return this.#accepted.size;
  }

  async stop(): Promise<Sent> {
    this.#stopped = true;
    await Promise.all(this.#loops);
    return { accepted: this.#accepted, others: this.#others };
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      const number = this.#next;
      this.#next += this.#step;
      if (await this.#post(number)) {
        this.#accepted.add(number);
        await pause(breath);
      } else {
        this.#others.add(number);
        await pause(PAUSE_WITHOUT_AGENT_MILLISECONDS);
      }
    }
  }

  async #post(number: number): Promise<boolean> {
    const service = this.#services[number % this.#services.length] ?? "";
    const data = [{ id: `urn:room:${number % 50}`, type: "Room", number: { type: "Property", value: number } }];
    try {
      const response = await fetch(this.#url, {
        method: "POST",
        headers: { "Content-Type": "application/json", "Fiware-Service": service },
        body: JSON.stringify({ type: "Notification", subscriptionId: "urn:s:1", data }),
        signal: AbortSignal.timeout(10_000),
      });
      await response.arrayBuffer();
      return response.status === 200;
    } catch {
      return false; // The agent was killed: this one has no answer.
    }
  }
}
