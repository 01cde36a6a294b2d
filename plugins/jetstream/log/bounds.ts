import type { Bounds, LogPart } from "deneb/log";
import { asksFor, deliveredOf, makeConsumer, removeConsumer } from "./consumers.js";
import { logSettings } from "./errors.js";
import type { Link } from "./link.js";
import { recordOf } from "./records.js";
import { streamState } from "./stream.js";
import type { Subjects } from "./subjects.js";

const AT_ONCE = 16;
/** A consumer that was left behind goes away after this time. */
const IDLE_MILLIS = 10_000;

interface Measuring {
  readonly link: Link;
  readonly stream: string;
  readonly subjects: Subjects;
  readonly timeout: number;
}

/**
 * What parts hold. The state of the stream tells how many records each has; where the first and the last one stand is asked
 * of consumers that deliver no bodies and live for this one question.
 */
export async function boundsOf(of: Measuring, parts: readonly LogPart[]): Promise<ReadonlyMap<LogPart, Bounds>> {
  const { subjects } = of;
  // The end of the stream first, and then the numbers: what is appended to a part without records lies beyond that end.
  const next = (await stateOf(of)).last_seq + 1;
  const counts = (await stateOf(of, `${of.stream}.>`)).subjects ?? {};
  const countOf = (part: LogPart) => counts[subjects.of(part)] ?? 0;
  const empty = { first: next, next };
  const bounds = new Map<LogPart, Bounds>(parts.map((part) => [part, empty]));
  await inTurn(
    parts.filter((part) => countOf(part) > 0),
    async (part) => {
      // The oldest one is looked for first: one that is appended meanwhile is never taken for it.
      const first = await sequence(of, part, "all");
      if (first === undefined) return;
      const last = countOf(part) === 1 ? first : ((await sequence(of, part, "last")) ?? first);
      bounds.set(part, { first, next: Math.max(first, last) + 1 });
    },
  );
  return bounds;
}

async function stateOf({ link, stream }: Measuring, filter?: string) {
  const found = await streamState(link, stream, filter === undefined ? {} : { filter });
  if (found === undefined) throw logSettings(`measuring the stream "${stream}"`, "it was deleted; restart the agents");
  return found.state;
}

/** The sequence of the first or the last record of a part, without its body; undefined for none. */
async function sequence(of: Measuring, part: LogPart, policy: "all" | "last"): Promise<number | undefined> {
  const { link, stream, subjects, timeout } = of;
  const wanted = { batch: 1, expires: timeout / 2, now: true };
  const doing = `measuring "${subjects.of(part)}"`;
  const consuming = { link, stream, subject: subjects.of(part), doing };
  const begins = { deliver_policy: policy };
  const name = await makeConsumer(consuming, { begins, headersOnly: true, idleMillis: IDLE_MILLIS });
  try {
    const message = await link.ask({ doing, record: true, ...asksFor(stream, name, wanted) });
    const found = deliveredOf(message.reply ?? "", name)?.sequence;
    // A consumer that was too slow says no more than one of a part without records.
    return found ?? (await recordOf(consuming, policy === "all" ? { from: 1 } : "last"))?.offset;
  } finally {
    await removeConsumer(consuming, name);
  }
}

async function inTurn<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items];
  const failures: unknown[] = [];
  await Promise.all(
    Array.from({ length: Math.min(AT_ONCE, items.length) }, async () => {
      for (let item = waiting.shift(); item !== undefined && failures.length === 0; item = waiting.shift()) {
        await work(item).catch((error: unknown) => failures.push(error));
      }
    }),
  );
  if (failures.length > 0) throw failures[0];
}
