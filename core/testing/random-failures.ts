import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { SinkCounters } from "../pipeline/counters.js";
import { DeadLetters } from "../pipeline/dead-letters/dead-letters.js";
import { deliveryChain } from "../pipeline/delivery/delivery-chain.js";
import { Settlements } from "../pipeline/delivery/settlements.js";
import { SupervisedSink } from "../pipeline/delivery/supervised-sink.js";
import { TakenBatch } from "../pipeline/delivery/taken-batch.js";
import { eventsOf } from "../sdk/errors.js";
import { frozen } from "../sdk/frozen.js";
import { AgentError, type Batch, type Event, type Receipt, reasonOf, retryableOf, type Sink } from "../sdk/index.js";
import { silent } from "./component-fixture.js";
import { assertStored, failure } from "./expectations.js";
import { marked, type SinkBench, type SinkCase } from "./sink-cases.js";

const BATCHES = 20;
const LARGEST = 8;

/**
 * A sink behind all that an agent has between a channel and a sink, and in front of it failures at random: the store is
 * away, an error says nothing, a write is aborted, a part is stored and the rest is named, some events are refused for good.
 * Each event ends once, stored or as a dead letter.
 */
export function randomFailureCases(seed: number = randomInt(2 ** 31)): readonly SinkCase[] {
  return [
    {
      name: `whatever fails at random, nothing is lost and nothing is stored twice (seed ${seed})`,
      async run(bench) {
        const random = randomNumbers(seed);
        const failing = { random, refused: new Set<string>() };
        const letters = new DeadLetters(`${bench.folder}/dead-letters`);
        const stuck = new AbortController();
        const deliver = chainTo(
          () =>
            failingSink(endingWhenStuck(bench.create(), stuck), {
              ...failing,
              refuses: bench.store.poisoned === undefined,
            }),
          letters,
          stuck,
        );
        const marks: string[] = [];
        for (let batch = 0; batch < BATCHES; batch += 1) {
          const some = Array.from({ length: 1 + random(LARGEST) }, (_, at) => `m${batch}-${at}`);
          for (const mark of some) if (random(10) === 0) failing.refused.add(mark);
          await deliver(some.map((mark) => eventOf(bench, mark, failing.refused)));
          marks.push(...some);
        }

        await judge(bench, letters, { marks, refused: failing.refused, seed });
      },
    },
  ];
}

/** The header by which an event is found again when its body is what the store refuses. */
const correlator = "fiware-correlator";
const nameOf = ({ headers }: Event) => headers[correlator] ?? "";

/** What the store itself refuses, where the setup can make that. */
function eventOf({ store }: SinkBench, mark: string, refused: ReadonlySet<string>): Event {
  const { headers, body } = marked(mark);
  const event = frozen({ headers: { ...headers, [correlator]: mark }, body });
  return refused.has(mark) ? (store.poisoned?.(event) ?? event) : event;
}

interface Outcome {
  readonly marks: readonly string[];
  readonly refused: ReadonlySet<string>;
  readonly seed: number;
}

async function judge({ store }: SinkBench, letters: DeadLetters, { marks, refused, seed }: Outcome): Promise<void> {
  const stored = await store.readBack();
  const dead: string[] = [];
  for await (const { event } of letters.open()) dead.push(nameOf(event));
  try {
    assert.deepEqual(dead.sort(), [...refused].sort(), "dead letters are the refused events, each once");
    const wanted = marks.filter((mark) => !refused.has(mark));
    assertStored(stored, wanted);
  } catch (error) {
    // In the message, not as the cause: the TAP lines of Node show no cause.
    throw failure(`${reasonOf(error)}; "--seed ${seed}", or seed in the setup, repeats it`);
  }
}

/** Delivers a batch as an agent does, without limit to its retries. */
function chainTo(
  create: () => Sink,
  deadLetters: DeadLetters,
  stuck: AbortController,
): (events: readonly Event[]) => Promise<Receipt> {
  const clock = { now: () => new Date(1_700_000_000_000) };
  const name = "conformance";
  const sink = new SupervisedSink({ name, create, persistTimeout: 0, log: silent, clock });
  const retry = { batchTtl: -1, batchRetryIntervals: [1], untilStored: true };
  const chain = deliveryChain({ name, sink, retry, deadLetters, counters: new SinkCounters(), log: silent, clock });
  let started: Promise<void> | undefined;
  return async (events) => {
    started ??= sink.start();
    await started;
    const course = { signal: stuck.signal, hurry: stuck.signal, attempt: 1, doubt: "none" } as const;
    try {
      return await chain.first.deliver(
        new TakenBatch(events, { whole: events, transaction: {}, settlements: new Settlements() }),
        course,
      );
    } catch (error) {
      throw stuck.signal.aborted ? stuck.signal.reason : error;
    }
  };
}

/** Failures of the sink itself, one after another, after which the case ends: nothing would ever be stored. */
const MOST_FAILURES = 100;

/** Ends the case when the sink fails although nothing in front of it does. */
function endingWhenStuck(sink: Sink, stuck: AbortController): Sink {
  let failures = 0;
  return {
    ...(sink.positions === undefined ? {} : { positions: sink.positions }),
    start: () => sink.start(),
    stop: (signal) => sink.stop(signal),
    async persist(batch, signal) {
      try {
        const receipt = await sink.persist(batch, signal);
        failures = 0;
        return receipt;
      } catch (error) {
        if (retryableOf(error) !== false && !signal.aborted) failures += 1;
        if (failures >= MOST_FAILURES) {
          stuck.abort(
            failure(`the sink fails ${failures} times in a row, and no failure stands in front of it`, error),
          );
        }
        throw error;
      }
    },
  };
}

interface Failing {
  readonly random: (below: number) => number;
  /** The marks of events that the store never accepts. */
  readonly refused: ReadonlySet<string>;
  /** False when the sink itself refuses them. */
  readonly refuses: boolean;
}

/** An event has at most that many aborted writes: after three failures of one kind it is suspected. */
const MOST_ABORTED = 2;

/** The sink, with failures in front of it. Each has a name of its own, so that none looks like the one before. */
function failingSink(sink: Sink, { random, refused, refuses }: Failing): Sink {
  const aborted = new Map<string, number>();
  const word = () => Array.from({ length: 8 }, () => String.fromCharCode(97 + random(26))).join("");
  return {
    start: () => sink.start(),
    stop: (signal) => sink.stop(signal),
    async persist(batch: Batch, signal) {
      const chance = random(10);
      if (chance < 3) throw new AgentError("STORE_AWAY", `the store is away: ${word()}`, { retryable: true });
      if (chance < 4) throw new Error(`an error that says nothing: ${word()}`);
      if (refuses && batch.events.some((event) => refused.has(nameOf(event))))
        throw new AgentError("REFUSED", `an event that will never go in: ${word()}`, { retryable: false });
      if (chance < 5 && sink.positions?.stored === undefined) return await partly(batch, signal);
      return await sink.persist(batch, chance < 6 && mayAbort(batch) ? AbortSignal.abort() : signal);
    },
  };

  function mayAbort({ events }: Batch): boolean {
    const times = events.map((event) => aborted.get(nameOf(event)) ?? 0);
    if (times.some((some) => some >= MOST_ABORTED)) return false;
    for (const [at, event] of events.entries()) aborted.set(nameOf(event), (times[at] ?? 0) + 1);
    return true;
  }

  /** Stores what comes first, and says of the rest that it may pass. */
  async function partly({ events, ...others }: Batch, signal: AbortSignal): Promise<Receipt> {
    const half = Math.floor(events.length / 2);
    const failed = new Map<Event, unknown>(events.slice(half).map((event) => [event, undefined]));
    try {
      if (half > 0) await sink.persist({ ...others, events: Object.freeze(events.slice(0, half)) }, signal);
    } catch (error) {
      const named = namedIn(error, events);
      if (named.length === 0) throw error;
      for (const [event, own] of named) failed.set(event, own);
    }
    throw new AgentError("STORE_AWAY", `the store took a part: ${word()}`, { retryable: true, events: failed });
  }
}

/** Those of the events that an error of the sink names, each with why; none when it is about the whole batch. */
function namedIn(error: unknown, events: readonly Event[]): readonly (readonly [Event, unknown])[] {
  const named = eventsOf(error);
  if (named instanceof Map)
    return events.filter((event) => named.has(event)).map((event) => [event, named.get(event) ?? error]);
  const list: readonly unknown[] = Array.isArray(named) ? named : [];
  return events.filter((event) => list.includes(event)).map((event) => [event, error]);
}

/** Numbers below a bound that are the same for the same seed (mulberry32). */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}
