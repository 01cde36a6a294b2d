import type { Bounds, LogPart } from "deneb/log";
import { asksFor, type Consuming, deliveredOf, makeConsumer, removeConsumer } from "./consumers.js";
import { apiCodes, isAnswer, logSettings, logUnavailable } from "./errors.js";
import type { Link } from "./link.js";
import type { StreamRecords } from "./records.js";
import { streamState } from "./stream.js";
import type { Subjects } from "./subjects.js";

const AT_ONCE = 16;
/** A consumer that was left behind goes away after this time. */
const IDLE_MILLIS = 10_000;

interface Measuring {
  readonly link: Link;
  readonly stream: string;
  readonly subjects: Subjects;
  readonly records: StreamRecords;
}

/**
 * What parts hold. The state of the stream tells how many records each has; where the first and the last one stand is asked
 * of consumers that deliver no bodies and live for this one question.
 */
export async function boundsOf(of: Measuring, parts: readonly LogPart[]): Promise<ReadonlyMap<LogPart, Bounds>> {
  const { subjects } = of;
  // What is appended to a part without records lies behind the end from before it was counted, and behind that of whoever counted.
  const before = await stateOf(of);
  const counted = await stateOf(of, `${of.stream}.>`);
  const next = Math.min(before.last_seq, counted.last_seq) + 1;
  const countOf = (part: LogPart) => counted.subjects?.[subjects.of(part)] ?? 0;
  const bounds = new Map<LogPart, Bounds>(parts.map((part) => [part, { first: next, next }]));
  const missing: LogPart[] = [];
  await inTurn(
    parts.filter((part) => countOf(part) > 0),
    async (part) => {
      // The oldest one is looked for first: one that is appended meanwhile is never taken for it.
      const first = await sequence(of, part, "all");
      if (first === undefined) {
        missing.push(part);
        return;
      }
      const last = countOf(part) === 1 ? first : ((await sequence(of, part, "last")) ?? first);
      bounds.set(part, { first, next: Math.max(first, last) + 1 });
    },
  );
  await assureGone(of, missing);
  return bounds;
}

/** Rejects when records of a part are there that no server found: one that is behind may have answered. */
async function assureGone(of: Measuring, parts: readonly LogPart[]): Promise<void> {
  if (parts.length === 0) return;
  const { subjects = {} } = await stateOf(of, `${of.stream}.>`);
  const there = parts.map((part) => of.subjects.of(part)).find((subject) => (subjects[subject] ?? 0) > 0);
  if (there !== undefined) {
    throw logUnavailable(`measuring "${there}"`, "it has records, and the server that was asked for them has none yet");
  }
}

async function stateOf({ link, stream }: Measuring, filter?: string) {
  const found = await streamState(link, stream, filter === undefined ? {} : { filter });
  if (found === undefined) throw logSettings(`measuring the stream "${stream}"`, "it was deleted; restart the agents");
  return found.state;
}

/** The sequence of the first or the last record of a part; undefined for none. */
async function sequence(of: Measuring, part: LogPart, policy: "all" | "last"): Promise<number | undefined> {
  const { link, stream, subjects, records } = of;
  const subject = subjects.of(part);
  const consuming = { link, stream, subject, doing: `measuring "${subject}"` };
  // A consumer that was too slow says no more than one of a part without records, and there may be too many consumers.
  const found = await sequenceBrought(consuming, policy);
  const which = policy === "all" ? { from: 1 } : "last";
  return found ?? (await records.find({ subject, which, doing: consuming.doing }))?.offset;
}

/** The same as a consumer tells it, without the body of the record. */
async function sequenceBrought(consuming: Consuming, policy: "all" | "last"): Promise<number | undefined> {
  const { link, stream, doing } = consuming;
  const order = { begins: { deliver_policy: policy }, headersOnly: true, idleMillis: IDLE_MILLIS };
  const name = await makeConsumer(consuming, order).catch((error: unknown) => {
    if (isAnswer(error, apiCodes.consumersLimit)) return undefined;
    throw error;
  });
  if (name === undefined) return undefined;
  try {
    // Records that are there come at once. A server may say nothing until the question is over, and that is to be before the next try.
    const wanted = { batch: 1, expires: link.tryMillis / 2 };
    const message = await link.ask({ doing, record: true, ...asksFor(stream, name, wanted) });
    return deliveredOf(message.reply ?? "", name)?.sequence;
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
