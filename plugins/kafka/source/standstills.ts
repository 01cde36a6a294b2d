import type { HealthReport, Logger, MetricGauge } from "deneb/sdk";
import type { Place } from "../client/directory.js";

/** Milliseconds in which brokers agree on another leader. */
const LEADER_MILLIS = 3000;

const messages = {
  "no-leader": "partitions without a leader are not read; the others are",
  "silent-leader": "partitions whose leader does not answer are not read; the others are",
  unreadable: "partitions with records that cannot be decoded are not read; the others are",
  "open-transaction":
    "a transaction that was not ended holds back a partition; it is read on when it is committed or aborted",
} as const;

type Cause = keyof typeof messages;

/** A partition of which nothing can be read now. */
interface Standstill extends Place {
  readonly cause: Cause;
  /** Of a leader that does not answer, and of records that cannot be decoded. */
  readonly reason?: string;
  /** Of a transaction: from where on nothing is read. */
  readonly offset?: number;
}

/** What is seen of a partition; undefined where nothing is known yet. */
export type Sight = Standstill | "moving" | undefined;

interface Standing {
  readonly standstill: Standstill;
  readonly since: number;
  readonly isReported: boolean;
}

interface StandstillParts {
  readonly log: Logger;
  /** By topic and cause. */
  readonly gauge: MetricGauge | undefined;
  report(health: HealthReport): void;
  /** Milliseconds for which a transaction may hold back a partition. */
  readonly transactionMillis: number;
}

/** Reports partitions that are not read while others are, once for each cause, and when they are read again. */
export class Standstills {
  readonly #parts: StandstillParts;
  #standing: ReadonlyMap<string, Standing> = new Map();
  #denied: ReadonlyMap<string, string> = new Map();
  readonly #counted = new Map<string, { readonly topic: string; readonly cause: Cause }>();

  constructor(parts: StandstillParts) {
    this.#parts = parts;
  }

  /** Topics that the user may not read, each with why. */
  deny(denied: ReadonlyMap<string, string>): void {
    const { log } = this.#parts;
    const before = this.#denied;
    this.#denied = denied;
    for (const [topic, reason] of denied) {
      if (before.get(topic) === reason) continue;
      log.warn({ topic, reason }, "a topic that the user may not read is left out; the others are read");
    }
    const over = [...before.keys()].filter((topic) => !denied.has(topic));
    if (over.length > 0) log.info({ topics: over }, "the user may read topics that were left out");
  }

  /** What is seen of the partitions of this source; those that it had before are forgotten. */
  look(sights: readonly (readonly [place: Place, sight: Sight])[]): void {
    const before = this.#standing;
    const now = new Map<string, Standing>();
    const news: Standstill[] = [];
    const over: Standstill[] = [];
    for (const [place, sight] of sights) {
      const key = `${place.topic}:${place.partition}`;
      const known = before.get(key);
      const standing = this.#stands(known, sight);
      if (standing !== undefined) now.set(key, standing);
      const wasReported = known?.isReported === true;
      if (wasReported && standing?.isReported !== true) over.push(known.standstill);
      if (standing?.isReported !== true) continue;
      if (!wasReported || isOther(known.standstill, standing.standstill)) news.push(standing.standstill);
    }
    this.#standing = now;
    this.#log(news, over);
    const isChanged = news.length + over.length > 0 || reportedOf(before).length !== reportedOf(now).length;
    if (isChanged) this.report();
  }

  /** Reports that the source reads, or what it does not read. */
  report(): void {
    const reported = reportedOf(this.#standing);
    this.#count(reported);
    const [first] = reported;
    const others = reported.length > 1 ? [`${reported.length} partitions are not read`] : [];
    const reasons = [...this.#denied.values(), ...(first === undefined ? [] : [reasonOf(first)]), ...others];
    if (reasons.length === 0) this.#parts.report({ state: "up" });
    else this.#parts.report({ state: "degraded", reason: reasons.join("; ") });
  }

  #stands(known: Standing | undefined, sight: Sight): Standing | undefined {
    if (sight === undefined) return known;
    if (sight === "moving") return undefined;
    // A transaction behind which another one holds back the partition was ended, and one is seen only where a leader answers.
    const isNew = sight.cause === "open-transaction" && known?.standstill.offset !== sight.offset;
    const before = isNew ? undefined : known;
    const now = performance.now();
    const since = before?.since ?? now;
    const bearable = sight.cause === "open-transaction" ? this.#parts.transactionMillis : LEADER_MILLIS;
    return { standstill: sight, since, isReported: before?.isReported === true || now - since >= bearable };
  }

  #log(news: readonly Standstill[], over: readonly Standstill[]): void {
    const { log } = this.#parts;
    const lines = grouped(news, ({ topic, cause, reason, offset }) => JSON.stringify([topic, cause, reason, offset]));
    for (const [{ cause, partition: _, ...fields }, partitions] of lines) {
      log.warn({ ...fields, partitions }, messages[cause]);
    }
    for (const [{ topic }, partitions] of grouped(over, (standstill) => standstill.topic)) {
      log.info({ topic, partitions }, "partitions are read again");
    }
  }

  #count(reported: readonly Standstill[]): void {
    for (const { topic, cause } of reported) this.#counted.set(`${topic} ${cause}`, { topic, cause });
    for (const { topic, cause } of this.#counted.values()) {
      const count = reported.filter((one) => one.topic === topic && one.cause === cause).length;
      this.#parts.gauge?.set(count, { topic, cause });
    }
  }
}

function isOther(one: Standstill, other: Standstill): boolean {
  return one.cause !== other.cause || one.offset !== other.offset;
}

function reportedOf(standing: ReadonlyMap<string, Standing>): readonly Standstill[] {
  return [...standing.values()].filter(({ isReported }) => isReported).map(({ standstill }) => standstill);
}

function reasonOf({ topic, partition, cause, reason, offset }: Standstill): string {
  const place = `partition ${partition} of topic "${topic}"`;
  if (cause === "no-leader") return `${place} has no leader`;
  if (cause === "silent-leader") return `the leader of ${place} does not answer: ${reason}`;
  if (cause === "unreadable") return reason ?? `the records of ${place} cannot be decoded`;
  return `a transaction that was not ended holds back ${place} from offset ${offset} on`;
}

function grouped(
  standstills: readonly Standstill[],
  of: (standstill: Standstill) => string,
): readonly (readonly [first: Standstill, partitions: readonly number[]])[] {
  const groups = new Map<string, [Standstill, number[]]>();
  for (const standstill of standstills) {
    const group = groups.get(of(standstill));
    if (group === undefined) groups.set(of(standstill), [standstill, [standstill.partition]]);
    else group[1].push(standstill.partition);
  }
  return [...groups.values()];
}
