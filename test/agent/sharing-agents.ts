import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { DEAD_LETTER_REPLAY, DEAD_LETTERS } from "../../core/agent/container.js";
import type { DeadLetters, OpenLetter } from "../../core/pipeline/dead-letters/dead-letters.js";
import { AgentError, type Batch, type Event, letterHeader, type Sink } from "../../core/sdk/index.js";
import { put } from "../support/delivering.js";
import { runningManagement } from "../support/running-management.js";
import { SharedLog } from "../support/shared-channel.js";
import { until } from "../support/until.js";

/** What the agents of a test store in; it refuses the ids in `refused`, and stores an event of the log once, as positions do. */
export class Store {
  readonly log = new SharedLog();
  readonly refused = new Set<string>();
  readonly rows: string[] = [];
  readonly #stored = new Set<string>();

  /** Of the agent that is created next; after that has ended it stores nothing. */
  sink(): Sink {
    const at = this.log.created;
    const persist = async ({ events, idOf: nameOf }: Batch) => {
      if (this.log.isDead(at)) throw new AgentError("POSITION_CONFLICT", "another agent went on", { retryable: true });
      const bad = events.find((event) => this.refused.has(idOf(event)));
      if (bad !== undefined) throw new AgentError("REFUSED", `storing ${idOf(bad)}`, { retryable: false });
      for (const event of events) {
        // What is stored by position and once more as a letter is two rows.
        const key = `${event.headers[letterHeader] === undefined} ${nameOf?.(event)}`;
        if (this.#stored.has(key)) continue;
        this.#stored.add(key);
        this.rows.push(idOf(event));
      }
      return { requestBytes: 0, responseBytes: 0 };
    };
    return { start: async () => {}, stop: async () => {}, persist };
  }

  get sorted(): readonly string[] {
    return this.rows.toSorted();
  }
}

export function idOf({ body }: Event): string {
  return typeof body === "object" && body !== null ? String(Reflect.get(body, "id")) : "";
}

export async function agentOf(context: TestContext, store: Store) {
  const running = await runningManagement(context, { sink: store.sink(), channelPlugin: store.log.plugin });
  const letters = running.container.resolve(DEAD_LETTERS);
  const replay = running.container.resolve(DEAD_LETTER_REPLAY);
  const channel = store.log.channels.at(-1);
  const own = running.agent.assembly.channels[0]?.channel ?? assert.fail("the agent has no channel");
  return {
    ...running,
    letters,
    replay,
    channel,
    /** Entities with these ids. */
    put: (...ids: readonly string[]) => put(own, ...ids.map((id) => ({ id }))),
    /** The open letters, once there are that many. */
    has: (count: number) => open(letters, count),
  };
}

/** Two agents that have the letter of `b`, which their store refuses. */
export async function twoWithLetter(context: TestContext) {
  const store = new Store();
  store.refused.add("b");
  const first = await agentOf(context, store);
  const second = await agentOf(context, store);
  await first.put("b");
  const [letter] = await first.has(1);
  await second.has(1);
  return { store, first, second, letter };
}

/** The open letters of an agent, once there are that many. */
export async function open(letters: DeadLetters, count: number): Promise<readonly OpenLetter[]> {
  return await until(
    async () => {
      const all: OpenLetter[] = [];
      for await (const letter of letters.open()) all.push(letter);
      return all;
    },
    ({ length }) => length === count,
  );
}
