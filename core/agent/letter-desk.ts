import type { DeadLetters, OpenLetter } from "../pipeline/dead-letters.js";
import { letterHeader } from "../pipeline/replayed-letters.js";
import { AgentError, type Event } from "../sdk/index.js";
import type { Agent } from "./agent.js";
import type { RunningSink } from "./component.js";

/** Which letters are meant; all when nothing is given. */
export interface LetterChoice {
  readonly id?: string;
  readonly sink?: string;
}

export interface ReplayResult {
  /** Letters whose events are in the channel of their sink now. */
  readonly replayed: number;
  /** Letters that were on their way already. */
  readonly underway: number;
}

/** Sends dead letters to their sinks again, or drops them. */
export class LetterDesk {
  readonly letters: DeadLetters;
  readonly #agent: Agent;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(agent: Agent, letters: DeadLetters) {
    this.#agent = agent;
    this.letters = letters;
  }

  /** The letters of a choice, oldest first. */
  async *chosen({ id, sink }: LetterChoice): AsyncGenerator<OpenLetter> {
    for await (const letter of this.letters.open(sink)) if (id === undefined || letter.id === id) yield letter;
  }

  /**
   * Puts the events into the channels of their sinks. A letter that is underway is left alone; one that the process
   * before sent off may be sent again, because its sink stores a letter only once.
   */
  async replay(choice: LetterChoice): Promise<ReplayResult> {
    return await this.#inTurn(() => this.#replay(choice));
  }

  /** Returns how many letters were dropped; those underway are not. */
  async drop(choice: LetterChoice): Promise<number> {
    return await this.#inTurn(async () => {
      const bySink = new Map<string, string[]>();
      for await (const { id, sink, state } of this.chosen(choice)) {
        if (state === "waiting") bySink.set(sink, [...(bySink.get(sink) ?? []), id]);
      }
      for (const [sink, ids] of bySink) await this.letters.mark(sink, ids, "dropped");
      return [...bySink.values()].reduce((sum, ids) => sum + ids.length, 0);
    });
  }

  async #replay(choice: LetterChoice): Promise<ReplayResult> {
    const sinks = choice.sink === undefined ? await this.letters.sinks() : [choice.sink];
    const result = { replayed: 0, underway: 0 };
    for (const name of sinks) {
      const standings = await this.letters.standings(name);
      const mayGo = ({ id, state }: OpenLetter) => {
        const standing = standings.get(id);
        return state === "waiting" || (standing !== undefined && !this.letters.isOwn(standing));
      };
      let parcel: OpenLetter[] = [];
      for await (const letter of this.chosen({ ...choice, sink: name })) {
        if (!mayGo(letter)) {
          result.underway += 1;
          continue;
        }
        parcel.push(letter);
        const sink = this.#sinkOf(letter);
        if (parcel.length < sink.channel.transactionCapacity) continue;
        result.replayed += await this.#send(sink, parcel);
        parcel = [];
      }
      const [last] = parcel;
      if (last !== undefined) result.replayed += await this.#send(this.#sinkOf(last), parcel);
    }
    return result;
  }

  /** Marked before they are put: a sink that is quick to refuse one again must have the last word. */
  async #send(sink: RunningSink, parcel: readonly OpenLetter[]): Promise<number> {
    const ids = parcel.map(({ id }) => id);
    const keeper = parcel[0]?.sink ?? sink.name;
    await this.letters.mark(keeper, ids, "replaying");
    try {
      const transaction = sink.channel.openPut();
      for (const letter of parcel) transaction.put(replayOf(letter));
      await transaction.commit();
    } catch (cause) {
      await this.letters.mark(keeper, ids, "waiting");
      throw new AgentError("REPLAY_REFUSED", `putting ${ids.length} letters into the channel of sink "${keeper}"`, {
        cause,
        retryable: true,
      });
    }
    return ids.length;
  }

  #sinkOf({ sink }: OpenLetter): RunningSink {
    const running = this.#agent.assembly.sinks.find(({ name, group }) => name === sink || group?.name === sink);
    if (running !== undefined) return running;
    const names = this.#agent.assembly.sinks.map(({ name }) => name).join(", ");
    throw new AgentError("UNKNOWN_SINK", `replaying to sink "${sink}", which the agent does not have; it has ${names}`);
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => undefined);
    return await turn;
  }
}

function replayOf({ id, event }: OpenLetter): Event {
  return { ...event, headers: { ...event.headers, [letterHeader]: id } };
}
