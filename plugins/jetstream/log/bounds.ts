import type { Bounds, LogPart } from "deneb/log";
import { asksFor, deliveredOf, makeConsumer, removeConsumer } from "./consumers.js";
import { logSettings } from "./errors.js";
import type { Link } from "./link.js";
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
  const { link, stream, subjects } = of;
  // The newest records first: what is appended meanwhile lies beyond them.
  const found = await streamState(link, stream, { filter: `${stream}.>` });
  if (found === undefined) throw logSettings(`measuring the stream "${stream}"`, "it was deleted; restart the agents");
  const counts = found.state.subjects ?? {};
  const countOf = (part: LogPart) => counts[subjects.of(part)] ?? 0;
  const next = found.state.last_seq + 1;
  const empty = { first: next, next };
  const bounds = new Map<LogPart, Bounds>(parts.map((part) => [part, empty]));
  await inTurn(
    parts.filter((part) => countOf(part) > 0),
    async (part) => {
      const last = await sequence(of, part, "last");
      if (last === undefined) return;
      const first = countOf(part) === 1 ? last : ((await sequence(of, part, "all")) ?? last);
      bounds.set(part, { first: Math.min(first, last), next: last + 1 });
    },
  );
  return bounds;
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
