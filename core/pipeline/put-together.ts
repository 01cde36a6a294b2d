import { codeOf, type Event, type PutTransaction, type Waiting } from "../sdk/index.js";
import { CountedChannel } from "./counted-channel.js";
import { CountedPut } from "./counted-transactions.js";
import type { Route } from "./routes.js";

/** How often a notification may wait for room in one channel and then find another one full. */
const MOST_WAITS = 10;

/** What stayed in a channel although the notification was refused: the first events of its route. */
export interface Left {
  readonly route: Route;
  readonly events: number;
}

interface Outcome {
  /** Why the notification is refused; undefined when it is in all channels. */
  readonly refusal?: { readonly error: unknown };
  readonly left: readonly Left[];
}

/**
 * Puts routes into their channels: into all, or into none as far as the channels reserve room. A notification that waits
 * for one channel releases its room in the others, so that a blocked channel does not fill them. One notification at a
 * time keeps its room, so that two full channels do not send all notifications back and forth; it waits in the order of
 * the names, which prevents a deadlock.
 */
export class PutTogether {
  #isHolding = false;

  /** Puts one route if there is room now; a channel without `reserve` waits as long as its own commit does. */
  async putAtOnce(route: Route): Promise<Outcome> {
    const opened = await openAll([route]);
    const refusal = await reserveAll(opened, () => "at-once");
    if (refusal === undefined) return await commitAll(opened);
    const parts = opened.flatMap((one) => one.parts);
    for (const { transaction } of parts) if (transaction instanceof CountedPut) transaction.leftOut(refusal.error);
    await rollBack(parts);
    return { refusal, left: [] };
  }

  async put(routes: readonly Route[]): Promise<Outcome> {
    let waitFor: Route | undefined;
    for (let waits = 0; ; waits += 1) {
      const opened = await openAll(routes);
      const [first, ...others] = opened;
      const isAlone = others.length === 0 && first?.parts.length === 1;
      const refusal = isAlone ? undefined : await this.#reserve(opened, waitFor, waits);
      if (refusal === undefined) return await commitAll(opened);
      await rollBack(opened.flatMap(({ parts }) => parts));
      if (refusal.isFinal || waits === MOST_WAITS) return { refusal, left: [] };
      waitFor = refusal.route;
    }
  }

  /** Waits for no channel first, then for one, and in the turn of this notification for all of them. */
  async #reserve(all: readonly Opened[], waitFor: Route | undefined, waits: number): Promise<Refusal | undefined> {
    if (waits < 2 || this.#isHolding) {
      const rank = ({ route }: Opened) => (route === waitFor ? 0 : 1);
      return await reserveAll(
        all.toSorted((one, other) => rank(one) - rank(other)),
        ({ route }) => (route === waitFor ? "wait" : "at-once"),
      );
    }
    this.#isHolding = true;
    try {
      const inOrder = all.toSorted(({ route: one }, { route: other }) => (one.name < other.name ? -1 : 1));
      return await reserveAll(inOrder, () => "wait");
    } finally {
      this.#isHolding = false;
    }
  }
}

/** One transaction if the events fit into one, or the channel opens one that is large enough; else several. */
async function openPuts(route: Route): Promise<readonly Part[]> {
  const { channel, events } = route;
  try {
    return [await opened(route, events)];
  } catch (error) {
    const most = channel.transactionCapacity;
    if (codeOf(error) !== "TRANSACTION_TOO_LARGE" || events.length <= most) throw error;
    const parts: Part[] = [];
    for (let from = 0; from < events.length; from += most) {
      parts.push(await opened(route, events.slice(from, from + most)));
    }
    return parts;
  }
}

interface Part {
  readonly transaction: PutTransaction;
  readonly events: number;
}

interface Opened {
  readonly route: Route;
  readonly parts: readonly Part[];
  isKept: boolean;
}

async function opened(route: Route, events: readonly Event[]): Promise<Part> {
  const transaction = openPut(route, events.length);
  try {
    for (const event of events) transaction.put(event);
  } catch (error) {
    await transaction.rollback();
    throw error;
  }
  return { transaction, events: events.length };
}

function openPut({ channel, required }: Route, events: number): PutTransaction {
  const isOptional = !required && channel instanceof CountedChannel;
  return isOptional ? channel.openOptionalPut(events) : channel.openPut(events);
}

async function openAll(routes: readonly Route[]): Promise<readonly Opened[]> {
  const all: Opened[] = [];
  try {
    for (const route of routes) {
      all.push({ route, parts: await openPuts(route), isKept: false });
    }
  } catch (error) {
    await rollBack(all.flatMap(({ parts }) => parts));
    throw error;
  }
  return all;
}

interface Refusal {
  readonly route: Route;
  readonly error: unknown;
  readonly isFinal: boolean;
}

async function reserveAll(all: readonly Opened[], waitingFor: (one: Opened) => Waiting): Promise<Refusal | undefined> {
  for (const one of all) {
    const waiting = waitingFor(one);
    try {
      one.isKept = await reserve(one.parts, waiting);
    } catch (error) {
      return { route: one.route, error, isFinal: waiting === "wait" || codeOf(error) !== "CHANNEL_FULL" };
    }
  }
  return undefined;
}

async function reserve(parts: readonly Part[], waiting: Waiting): Promise<boolean> {
  let isKept = true;
  for (const { transaction } of parts) isKept = ((await transaction.reserve?.(waiting)) ?? false) && isKept;
  return isKept;
}

/** The order of commits: channels that may still be full, then those whose disk may fail, then those that cannot fail. */
async function commitAll(all: readonly Opened[]): Promise<Outcome> {
  const inTurn = all.toSorted((one, other) => certainty(one) - certainty(other));
  const done = new Map<Route, number>();
  const open = inTurn.flatMap(({ route, parts }) => parts.map((part) => ({ route, part })));
  for (const [at, { route, part }] of open.entries()) {
    try {
      await part.transaction.commit();
    } catch (error) {
      await rollBack(open.slice(at).map((one) => one.part));
      return { refusal: { error }, left: [...done].map(([of, events]) => ({ route: of, events })) };
    }
    done.set(route, (done.get(route) ?? 0) + part.events);
  }
  return { left: [] };
}

function certainty({ isKept, route }: Opened): number {
  return (isKept ? 2 : 0) + (route.channel.durable === true ? 0 : 1);
}

async function rollBack(parts: readonly Part[]): Promise<void> {
  await Promise.allSettled(parts.map(async ({ transaction }) => await transaction.rollback()));
}
