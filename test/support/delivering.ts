import { CountedChannel } from "../../core/pipeline/counted-channel.js";
import { SinkCounters } from "../../core/pipeline/counters.js";
import type { DeadLetters } from "../../core/pipeline/dead-letters/dead-letters.js";
import { ChannelOutlet } from "../../core/pipeline/delivery/channel-outlet.js";
import {
  type DeliveryChain,
  type DeliveryChainParts,
  deliveryChain,
} from "../../core/pipeline/delivery/delivery-chain.js";
import type { RetryPolicy } from "../../core/pipeline/delivery/retry-policy.js";
import { Settlements } from "../../core/pipeline/delivery/settlements.js";
import { SinkFeed, type SinkFeedParts } from "../../core/pipeline/delivery/sink-feed.js";
import type { Course } from "../../core/pipeline/delivery/stage.js";
import { SupervisedSink } from "../../core/pipeline/delivery/supervised-sink.js";
import { TakenBatch, type TakenFrom } from "../../core/pipeline/delivery/taken-batch.js";
import type { Channel, Event, Logger, Sink } from "../../core/sdk/index.js";
import type { Clock, TransactionObserver } from "../../core/tokens.js";

const fixed: Clock = { now: () => new Date("2026-01-15T10:20:30.123Z") };

export interface ChainSetting {
  readonly sink: Sink;
  readonly deadLetters: DeadLetters;
  readonly retry?: RetryPolicy;
  readonly log: Logger;
  readonly erasures?: DeliveryChainParts["erasures"];
  readonly redelivers?: boolean;
  readonly holdsApart?: boolean;
  /** Seconds; absent: no limit. */
  readonly persistTimeout?: number;
  /** Given where the channel is durable. */
  readonly outlet?: ChannelOutlet;
  /** Where the dead letters of all agents are; given where agents share the channel. */
  readonly shared?: NonNullable<DeliveryChainParts["outlet"]>;
  readonly clock?: Clock;
  readonly steady?: DeliveryChainParts["steady"];
  readonly observer?: TransactionObserver;
}

/** All parts between a feed and a sink of the name `s1`, as an agent links them. */
export function chainTo({
  sink,
  deadLetters,
  log,
  outlet,
  retry = { batchTtl: 3, batchRetryIntervals: [1] },
  persistTimeout = 0,
  erasures,
  redelivers = false,
  holdsApart = false,
  shared,
  clock = fixed,
  steady,
  observer,
}: ChainSetting) {
  const counters = new SinkCounters();
  const supervised = new SupervisedSink({ name: "s1", create: () => sink, persistTimeout, log, clock });
  const common = {
    ...{ name: "s1", sink: supervised, retry, deadLetters, counters, log, clock, redelivers, holdsApart },
    ...(erasures === undefined ? {} : { erasures }),
    ...(steady === undefined ? {} : { steady }),
    ...(shared === undefined ? {} : { outlet: shared }),
    ...(observer === undefined ? {} : { observer }),
  };
  const positions =
    outlet === undefined ? undefined : { gate: outlet.gate, keepers: [{ name: "s1", sink: supervised }] };
  const chain = deliveryChain(positions === undefined ? common : { ...common, positions });
  return { chain, counters, supervised };
}

/** Hands events to a chain as one batch; true when every one of them is settled. */
export async function deliver(
  { first }: Pick<DeliveryChain, "first">,
  events: readonly Event[],
  { signal = new AbortController().signal, hurry = signal, from = {} }: DeliverOptions = {},
): Promise<boolean> {
  const settlements = new Settlements();
  try {
    await first.deliver(
      new TakenBatch(events, { whole: events, transaction: from, settlements }),
      course(signal, hurry),
    );
  } catch (error) {
    if (!hurry.aborted) throw error;
  }
  return settlements.open(events).length === 0;
}

export interface DeliverOptions {
  readonly signal?: AbortSignal;
  readonly hurry?: AbortSignal;
  readonly from?: TakenFrom;
}

export function course(signal: AbortSignal = new AbortController().signal, hurry = signal): Course {
  return { signal, hurry, attempt: 1, doubt: "none" };
}

/** A batch of these events alone. */
export function batchOf(events: readonly Event[], from: TakenFrom = {}): TakenBatch {
  return new TakenBatch(events, { whole: events, transaction: from, settlements: new Settlements() });
}

export interface FeedSetting extends Omit<ChainSetting, "outlet"> {
  readonly channel: Channel;
  /** Of another feed of the same channel. */
  readonly outlet?: ChannelOutlet;
  readonly batching?: Partial<SinkFeedParts["batching"]>;
  readonly more?: Pick<SinkFeedParts, "replayed" | "account" | "largestBatch">;
}

/** A feed of its own for a sink, with all that is between a channel and a sink in an agent. */
export function feedOf({ channel, outlet: given, batching = {}, more = {}, ...setting }: FeedSetting) {
  const outlet = given ?? new ChannelOutlet(new CountedChannel(channel));
  const durable = outlet.channel.durable;
  const { chain, counters, supervised } = chainTo({ ...setting, ...(durable ? { outlet } : {}) });
  const { log } = setting;
  const usual = { batchSize: 1, batchTimeout: 30, ...batching };
  const feed = new SinkFeed({ outlet, chain, batching: usual, counters, log, ...more });
  return { feed, outlet, chain, counters, supervised };
}

export async function put(channel: Pick<Channel, "openPut">, ...bodies: readonly unknown[]): Promise<void> {
  const transaction = channel.openPut();
  for (const body of bodies) transaction.put({ headers: {}, body });
  await transaction.commit();
}
