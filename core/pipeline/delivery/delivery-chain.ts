import type { Logger } from "../../sdk/index.js";
import type { Clock, Tracing, TransactionObserver } from "../../tokens.js";
import type { SinkCounters } from "../counters.js";
import type { CrashWatch } from "../crash-watch.js";
import type { DeadLetters } from "../dead-letters/dead-letters.js";
import type { ReplayedLetters } from "../dead-letters/replayed-letters.js";
import type { Erasures } from "../erasures.js";
import type { FailureState } from "../failure-state.js";
import type { AskedPositionsParts } from "./asked-positions.js";
import { CatchUp } from "./catch-up.js";
import type { ChannelOutlet } from "./channel-outlet.js";
import { DeadLetterKeeper } from "./dead-letter-keeper.js";
import { HandOver } from "./hand-over.js";
import { HoldBack } from "./hold-back.js";
import { KeptElsewhere } from "./kept-elsewhere.js";
import { Measure } from "./measure.js";
import type { PositionGate } from "./position-gate.js";
import { RecentVerdicts } from "./recent-verdicts.js";
import { Retry } from "./retry.js";
import type { RetryPolicy } from "./retry-policy.js";
import { Split } from "./split.js";
import type { Stage, StoreQuestions } from "./stage.js";
import { StoredLetters } from "./stored-letters.js";
import { Trace } from "./trace.js";

/** All that a batch passes between a feed and a sink. */
export interface DeliveryChain {
  /** The first part. */
  readonly first: Stage;
  /** Passed before the first take; only behind a durable channel. */
  readonly catchUp?: CatchUp;
  readonly keeper: DeadLetterKeeper;
  readonly retry: Pick<Retry, "writing">;
  /** Why events are held back; absent where none can be. */
  readonly holding?: FailureState;
}

export interface DeliveryChainParts {
  /** Of the sink or the group: its dead letters and reports have this name. */
  readonly name: string;
  /** The end of the chain: a supervised sink, or a group of them. */
  readonly sink: Stage & StoreQuestions;
  readonly retry: RetryPolicy;
  /** Only behind a durable channel: who has stored positions, and the gate of the channel. */
  readonly positions?: Pick<AskedPositionsParts, "keepers" | "timeLimit"> & { readonly gate: PositionGate };
  /** Only behind a durable channel: what the next process is to know when this one dies. */
  readonly crashWatch?: CrashWatch;
  /** Whether takes of the channel may say of an event that it is redelivered. */
  readonly redelivers?: boolean;
  /** Whether takes of the channel, which is not shared, may end with a part of their events. */
  readonly holdsApart?: boolean;
  /** Which events were erased while they waited. */
  readonly erasures?: Pick<Erasures, "erasedAmong">;
  readonly deadLetters: DeadLetters;
  /** Where what turns out to be stored is marked; absent where no dead letters are replayed. */
  readonly replayed?: Pick<ReplayedLetters, "stored">;
  readonly counters: SinkCounters;
  readonly log: Logger;
  readonly clock: Clock;
  /** Milliseconds of a steady clock; absent: that of the process. */
  readonly steady?: () => number;
  readonly observer?: TransactionObserver;
  /** Absent while tracing is off. */
  readonly tracing?: Pick<Tracing, "delivery">;
  /** The end of the channel; absent behind one that agents never share. */
  readonly outlet?: Pick<ChannelOutlet, "letters">;
  /** The name of the channel, for spans. */
  readonly channel?: string;
}

/** Links the parts in the order in which a batch passes them. */
export function deliveryChain(parts: DeliveryChainParts): DeliveryChain {
  const {
    name,
    sink,
    retry,
    erasures,
    replayed,
    redelivers = false,
    holdsApart = false,
    positions,
    crashWatch,
    outlet,
    counters,
    log,
    clock,
    steady,
    observer,
  } = parts;
  const keeper = new DeadLetterKeeper({ ...parts, store: sink });
  const verdicts = new RecentVerdicts(clock);
  const measured = { sink: name, counters, clock, ...(observer === undefined ? {} : { observer }) };

  const behind = linked(sink, [
    (next) => new Split({ store: sink, keeper, verdicts }, next),
    ...(outlet === undefined ? [] : [(next: Stage) => new KeptElsewhere({ outlet, log }, next)]),
    ...(crashWatch === undefined ? [] : [(next: Stage) => new HandOver({ name, crashWatch, keeper, log }, next)]),
    (next) => new Measure(measured, next),
  ]);

  const retrying = new Retry(
    {
      retry,
      keeper,
      log,
      verdicts,
      ...(erasures === undefined ? {} : { erasures }),
      ...(replayed === undefined ? {} : { letters: new StoredLetters({ store: sink, replayed, log }, behind) }),
    },
    behind,
  );
  const asked = { store: sink, mustTell: redelivers, keeper, retry, counters, log, clock, steady };
  const holding = redelivers || holdsApart ? new HoldBack(asked, retrying) : undefined;
  const common = { keeper, retry: retrying, ...(holding === undefined ? {} : { holding: holding.health }) };
  const asking = holding ?? retrying;
  if (positions === undefined) return { first: traced(asking, parts), ...common };
  const catchUp = new CatchUp({ ...positions, retry, log }, asking);
  return { first: traced(catchUp, parts), catchUp, ...common };
}

function traced(next: Stage, { name, channel = "", tracing }: DeliveryChainParts): Stage {
  return tracing === undefined ? next : new Trace({ sink: name, channel, tracing }, next);
}

function linked(last: Stage, parts: readonly ((next: Stage) => Stage)[]): Stage {
  return parts.reduceRight((next, part) => part(next), last);
}
