import { setImmediate as nextTurn } from "node:timers/promises";
import { SerialQueue } from "../../files/serial-queue.js";
import { isChosen, type LetterChoice } from "../../pipeline/dead-letters/choice.js";
import type { SentLetter } from "../../pipeline/dead-letters/dead-letter.js";
import type { DeadLetters, LetterEntry, OpenLetter } from "../../pipeline/dead-letters/dead-letters.js";
import { counted } from "../../sdk/counted.js";
import { AgentError, type Context, codeOf, type Explanation, reasonOf, retryableOf } from "../../sdk/index.js";
import type { Agent } from "../agent.js";
import type { RunningSink } from "../component.js";
import { putInParts, type ReplayBatch } from "./put-letters.js";
import { UnsentLetters } from "./unsent-letters.js";

/** Letters of one sink that could not be replayed. */
interface ReplayRefusal {
  readonly sink: string;
  readonly letters: number;
  readonly code: string | undefined;
  readonly reason: string;
  /** Whether the same replay may succeed later. */
  readonly retryable: boolean;
}

export interface ReplayResult {
  /** Letters whose events are in the channel of their sink now; those that would be, in a dry run. */
  readonly replayed: number;
  /** Letters that were on their way already. */
  readonly underway: number;
  readonly refusals: readonly ReplayRefusal[];
}

interface DropResult {
  readonly dropped: number;
  /** Letters that are on their way to their sink, and stay. */
  readonly underway: number;
}

/** Letters that are handled at once. */
const largestBatch = 1000;

interface DeadLetterReplayParts {
  readonly agent: Agent;
  readonly letters: DeadLetters;
  /** What a sink gets to explain an event. */
  readonly contextOf: (sink: string) => Context;
}

/** Sends dead letters to their sinks again, or drops them. */
export class DeadLetterReplay {
  readonly letters: DeadLetters;
  readonly #agent: Agent;
  readonly #contextOf: (sink: string) => Context;
  readonly #turns = new SerialQueue();
  readonly #unsent: UnsentLetters;

  constructor({ agent, letters, contextOf }: DeadLetterReplayParts) {
    this.#agent = agent;
    this.letters = letters;
    this.#contextOf = contextOf;
    this.#unsent = new UnsentLetters(letters);
  }

  /** The letters of a choice, oldest first. */
  async *chosen(choice: LetterChoice): AsyncGenerator<OpenLetter> {
    for await (const letter of this.letters.open(choice.sink)) if (isChosen(choice, letter)) yield letter;
  }

  /** The running sink that takes letters kept under this name: of a group, any of its sinks. */
  sinkOf(name: string): RunningSink | undefined {
    return this.#agent.assembly.sinks.find((sink) => sink.name === name || sink.group?.name === name);
  }

  /** Where its sink would store a letter, part by part with points between; undefined when the sink cannot say. */
  async tableOf(letter: OpenLetter): Promise<string | undefined> {
    // What a sink refuses has no place.
    const destination = (await this.explained(letter)).explanation?.writes[0]?.destination;
    return destination === undefined ? undefined : Object.values(destination).join(".");
  }

  /** What its sink would do with a letter, or why it would refuse it; nothing when the sink does not explain itself. */
  async explained({
    sink,
    event,
  }: OpenLetter): Promise<{ readonly explanation?: Explanation; readonly failure?: string }> {
    const node = this.sinkOf(sink)?.node;
    try {
      const explanation = await node?.definition.explain?.(node.config, event, this.#contextOf(node.name));
      return explanation === undefined ? {} : { explanation };
    } catch (error) {
      return { failure: reasonOf(error) };
    } finally {
      // A list has thousands: in one turn they would hold up all else that the agent does.
      await nextTurn();
    }
  }

  /** Throws code NO_SUCH_SINK for a name that neither the agent nor a letter has. */
  async checkSink(name: string | undefined): Promise<void> {
    if (name === undefined || this.sinkOf(name) !== undefined) return;
    const kept = await this.letters.sinks();
    if (kept.includes(name)) return;
    const message = `there is no sink "${name}" and no dead letter of one; the agent has ${this.#names()}`;
    throw new AgentError("NO_SUCH_SINK", message, { retryable: false });
  }

  /**
   * Puts the events into the channels of their sinks. A letter that is underway is left alone; one that the process
   * before sent off may be sent again, because its sink stores a letter only once. It waits for a reload that goes on. A dry run
   * changes nothing.
   */
  async replay(choice: LetterChoice, { dryRun = false } = {}): Promise<ReplayResult> {
    await this.#agent.replaced();
    return await this.#turns.run(async () => {
      let replayed = 0;
      let underway = 0;
      const refusals: ReplayRefusal[] = [];
      for (const sink of await this.#sinksOf(choice)) {
        const result = await this.#replay(sink, choice, dryRun);
        replayed += result.replayed;
        underway += result.underway;
        refusals.push(...result.refusals);
      }
      return { replayed, underway, refusals };
    });
  }

  /** Puts the events of some letters of one sink into its channel; resolves to how many were still to be sent. */
  async send(sink: string, batch: ReplayBatch): Promise<number> {
    const { sent, error } = await this.#turns.run(() => this.#send(sink, batch));
    if (error !== undefined && sent === 0) throw error;
    return sent;
  }

  /** Letters of a sink that turn out to be marked, and were not sent, wait again. */
  async takeBack(sink: string): Promise<void> {
    if (this.#unsent.has(sink)) await this.#turns.run(() => this.#unsent.takeBack(sink));
  }

  /** Drops letters, and resolves when they are gone from the disk; those underway stay. */
  async drop(choice: LetterChoice): Promise<DropResult> {
    return await this.#turns.run(async () => {
      const result = { dropped: 0, underway: 0 };
      for (const sink of await this.#sinksOf(choice)) {
        const { dropped, underway } = await this.#drop(sink, choice);
        result.dropped += dropped;
        result.underway += underway;
      }
      return result;
    });
  }

  /** Files of sinks that have none of the letters are not read. */
  async #sinksOf({ sink, id, ids = id === undefined ? undefined : new Set([id]) }: LetterChoice) {
    const sinks = sink === undefined ? await this.letters.sinks() : [sink];
    if (ids === undefined) return sinks;
    const holding = new Set<string>();
    for (const name of sinks) {
      for (const one of ids) if ((await this.letters.entry(name, one)) !== undefined) holding.add(name);
    }
    return sinks.filter((name) => holding.has(name));
  }

  async #drop(sink: string, choice: LetterChoice): Promise<DropResult> {
    await this.#unsent.takeBack(sink);
    let found = 0;
    const ids = async function* (letters: AsyncIterable<OpenLetter>) {
      for await (const { id } of letters) {
        found += 1;
        yield id;
      }
    };
    const dropped = await this.letters.drop(sink, ids(this.chosen({ ...choice, sink })), mayGo);
    return { dropped, underway: found - dropped };
  }

  async #replay(sink: string, choice: LetterChoice, dryRun: boolean): Promise<ReplayResult> {
    const result = { replayed: 0, underway: 0, refused: 0 };
    let batch: OpenLetter[] = [];
    let error: unknown;
    let isOver = false;
    const flush = async () => {
      const letters = batch;
      batch = [];
      let sent = 0;
      try {
        if (isOver) return;
        const outcome: Sent = dryRun ? { sent: this.#dryRun(sink, letters) } : await this.#send(sink, letters);
        sent = outcome.sent;
        error ??= outcome.error;
        isOver = outcome.error !== undefined && retryableOf(outcome.error) !== false;
      } catch (refusal) {
        error = refusal;
        isOver = true;
      } finally {
        result.replayed += sent;
        result.refused += letters.length - sent;
      }
    };
    if (!dryRun) await this.#unsent.takeBack(sink);
    for await (const letter of this.chosen({ ...choice, sink })) {
      if (mayGo(await this.letters.entry(sink, letter.id))) batch.push(letter);
      else result.underway += 1;
      if (batch.length >= this.#batchSizeOf(sink)) await flush();
    }
    if (batch.length > 0) await flush();
    const refusals = error === undefined ? [] : [refusalOf(error, sink, result.refused)];
    return { replayed: result.replayed, underway: result.underway, refusals };
  }

  #batchSizeOf(sink: string): number {
    return Math.min(this.sinkOf(sink)?.channel.transactionCapacity ?? largestBatch, largestBatch);
  }

  #dryRun(sink: string, { length }: ReplayBatch): number {
    this.#running(sink);
    return length;
  }

  /** Marked before they are put: a sink that is quick to refuse one again must have the last word. */
  async #send(name: string, batch: ReplayBatch): Promise<Sent> {
    const { channel } = this.#running(name);
    const marked = new Map((await this.#marked(name, batch)).map(({ id, sentAt }) => [id, sentAt]));
    const going: ReplayBatch[number][] = [];
    for (const letter of batch) {
      const sentAt = marked.get(letter.id);
      // Each once: versions of one letter that were kept in one millisecond look the same.
      if (marked.delete(letter.id)) going.push({ ...letter, sentAt });
    }
    const { sent, error } = await putInParts(channel, going);
    if (error === undefined) return { sent: sent.length };
    const left = going.filter((letter) => !sent.includes(letter));
    // What was put although its channel did not say so may be stored already, and another agent may be replaying it by now.
    this.#unsent.note(name, left);
    await this.#unsent.takeBack(name);
    const message = `putting ${counted(left.length, "letter")} into the channel of sink "${name}"`;
    const retryable = retryableOf(error) !== false;
    return { sent: sent.length, error: new AgentError("REPLAY_REFUSED", message, { cause: error, retryable }) };
  }

  async #marked(name: string, batch: ReplayBatch): Promise<readonly SentLetter[]> {
    try {
      const ids = batch.map(({ id }) => id);
      const marked = await this.letters.markReplaying(name, ids, mayGo);
      this.#unsent.forget(
        name,
        marked.map(({ id }) => id),
      );
      return marked;
    } catch (error) {
      this.#unsent.note(name, batch);
      throw error;
    }
  }

  #running(name: string): RunningSink {
    const running = this.sinkOf(name);
    if (running !== undefined) return running;
    const message = `replaying to sink "${name}", which the agent does not have; it has ${this.#names()}: give a sink or a group the name, or drop the dead letters`;
    throw new AgentError("UNKNOWN_SINK", message, { retryable: false });
  }

  /** Of sinks and of groups: letters are kept under both. */
  #names(): string {
    const names = this.#agent.assembly.sinks.flatMap(({ name, group }) =>
      group === undefined ? name : [group.name, name],
    );
    return [...new Set(names)].map((name) => `"${name}"`).join(", ");
  }
}

interface Sent {
  readonly sent: number;
  readonly error?: unknown;
}

/** What this process sent is left alone; what one before it sent may have been lost with it. */
function mayGo(entry: LetterEntry | undefined): boolean {
  return entry?.mark === "waiting" || (entry?.mark === "replaying" && !entry.own);
}

function refusalOf(error: unknown, sink: string, letters: number): ReplayRefusal {
  const retryable = retryableOf(error) === true;
  return { sink, letters, code: codeOf(error), reason: reasonOf(error), retryable };
}
