import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Appended, LogPart } from "deneb/log";
import { codeOf } from "deneb/sdk";
import {
  type ApiError,
  apiFailure,
  logUnanswered,
  logUnavailable,
  NobodyAnswers,
  recordTooLarge,
  wasFaster,
} from "./errors.js";
import type { Identity } from "./identity.js";
import type { Link } from "./link.js";
import type { Room } from "./room.js";
import type { Subjects } from "./subjects.js";

const PAUSE_MILLIS = 50;
/** No record has this sequence. */
const NOT_PLACED = 0;
/** After another agent was faster in a part, for so long no record of it is expected to follow the last one that is known. */
const CONTENDED_MILLIS = 1000;

interface Writing {
  readonly link: Link;
  readonly stream: string;
  readonly subjects: Subjects;
  readonly identity: Identity;
  readonly room: Pick<Room, "take">;
  readonly largestRecord: () => number;
  /** Whether several servers keep the stream: then none of them knows which record another one follows before both are placed. */
  readonly isReplicated: () => boolean;
  /** Milliseconds for one append, repetitions included. */
  readonly timeout: number;
  /** Milliseconds after the first try in which the stream keeps one of those with the same name. */
  readonly repeatMillis: number;
  /** Called with each record that is there. */
  readonly wrote: (part: LogPart, offset: number) => void;
}

interface Answer {
  readonly seq?: number;
  readonly duplicate?: boolean;
  readonly error?: ApiError;
}

interface Published {
  readonly seq: number;
  readonly previous: number | undefined;
}

/** One record, over all tries to publish it. */
interface Named {
  /** The stream keeps one record of each id. */
  readonly id: string;
  /** True when it can be asked for again. */
  readonly isNamed: boolean;
  /** The largest sequence that was seen before. */
  readonly newest: number;
  /** Tries that had no answer. */
  unanswered: number;
  /** When they are of no use any more. */
  until: number;
}

interface Publishing {
  readonly part: LogPart;
  readonly value: Uint8Array;
  readonly doing: string;
  readonly record: Named;
  /** When it is to be over. */
  readonly end: number;
}

/** Publishes records, at most one for each part at a time. */
export class Writer {
  readonly #of: Writing;
  /** The newest record of each part that this writer knows of. */
  readonly #last = new Map<LogPart, number>();
  /** By part: until when others are taken to append to it, too. */
  readonly #contended = new Map<LogPart, number>();
  /** By part: the record that may be in the stream. */
  readonly #unanswered = new Map<LogPart, Named>();
  readonly #name = randomBytes(12).toString("base64url");
  #count = 0;

  constructor(of: Writing) {
    this.#of = of;
  }

  /** A record of a part was seen. */
  saw(part: LogPart, offset: number): void {
    if (offset > (this.#last.get(part) ?? -1)) this.#last.set(part, offset);
  }

  async append(part: LogPart, value: Uint8Array, name?: string): Promise<Appended> {
    const { identity, room, subjects, wrote } = this.#of;
    const largestRecord = this.#of.largestRecord();
    const doing = `appending a record to "${subjects.of(part)}"`;
    if (value.length > largestRecord) {
      throw recordTooLarge(
        doing,
        `it has ${value.length} bytes, and the stream takes ${largestRecord}; raise max_payload of the servers, and max_msg_size of the stream if it has one`,
      );
    }
    // A record that may be there is asked for whatever room there is.
    if (this.#unanswered.get(part)?.id !== name || name === undefined) await room.take(part, value.length, doing);
    const record = this.#named(part, name);
    const { seq, previous } = await this.#publish({ part, value, doing }, record).catch((error: unknown) => {
      throw this.#failure({ part, doing, record }, error);
    });
    if (seq <= record.newest) identity.refuse(seq, record.newest);
    identity.saw(seq);
    this.#last.set(part, seq);
    wrote(part, seq);
    return { offset: seq, previous };
  }

  /** The record of this name when it may be there, or another one. */
  #named(part: LogPart, name: string | undefined): Named {
    const known = this.#unanswered.get(part);
    this.#unanswered.delete(part);
    if (known !== undefined && known.id === name) return known;
    this.#count += 1;
    const id = name ?? `${this.#name}.${this.#count}`;
    const { newest } = this.#of.identity;
    return { id, isNamed: name !== undefined, newest, unanswered: 0, until: Number.POSITIVE_INFINITY };
  }

  /** What to tell of a record that no try has placed. */
  #failure({ part, doing, record }: Pick<Publishing, "part" | "doing" | "record">, error: unknown): unknown {
    // Nobody reads a stream that is gone.
    if (!record.isNamed || record.unanswered === 0 || codeOf(error) === "LOG_SETTINGS") return error;
    const failure = logUnanswered(doing, error);
    // After its time it would be there twice.
    if (performance.now() >= record.until)
      return logUnavailable(failure.message, "it was sent too long ago to ask again");
    this.#unanswered.set(part, record);
    return failure;
  }

  /** Repeats what got no answer, under the same name, so that the stream keeps one of them. */
  async #publish(of: Pick<Publishing, "part" | "value" | "doing">, record: Named): Promise<Published> {
    const end = performance.now() + this.#of.timeout;
    for (;;) {
      try {
        await this.#of.identity.assured(of.doing, left(Math.min(end, record.until)));
        return await this.#placed({ ...of, record, end: Math.min(end, record.until) });
      } catch (error) {
        if (error instanceof NobodyAnswers) await this.#of.identity.check(left(end));
        // What refuses this try says nothing of those before.
        const isOver = (!isPassing(error) && record.unanswered === 0) || this.#of.link.isClosed;
        if (isOver || performance.now() + PAUSE_MILLIS >= Math.min(end, record.until)) throw error;
        await delay(PAUSE_MILLIS);
      }
    }
  }

  /**
   * The stream takes a record only after the one that is expected to be the last of its subject; that tells the record
   * before it. When another agent was faster, that one has to be read anyway: the record goes to wherever it falls. The leader of a
   * replicated stream takes two that expect the same one where both are on their way: there only the next sequence tells.
   */
  async #placed(publishing: Publishing): Promise<Published> {
    const { part } = publishing;
    const last = this.#last.get(part) ?? 0;
    const isOpen = this.#of.isReplicated() || (this.#contended.get(part) ?? 0) > performance.now();
    const expected = isOpen ? undefined : last;
    const found = await this.#try(publishing, expected);
    if (found.error === undefined || !wasFaster(found.error)) return placeIn(found, { expected, last }, publishing);
    this.#contended.set(part, performance.now() + CONTENDED_MILLIS);
    return placeIn(await this.#try(publishing, undefined), { expected: undefined, last }, publishing);
  }

  async #try({ part, value, doing, record, end }: Publishing, expected: number | undefined): Promise<Answer> {
    const { link, stream, subjects, repeatMillis } = this.#of;
    const over = Math.min(end, performance.now() + link.tryMillis);
    const headers = {
      "Nats-Msg-Id": record.id,
      "Nats-Expected-Stream": stream,
      ...(expected === undefined ? {} : { "Nats-Expected-Last-Subject-Sequence": String(expected) }),
    };
    // What is not sent is not there.
    await link.connection(doing, left(over));
    record.until = Math.min(record.until, performance.now() + repeatMillis);
    record.unanswered += 1;
    const asking = { doing, subject: subjects.of(part), payload: value, headers, within: left(over) };
    const message = await link.request(asking).catch((error: unknown) => {
      if (!isPassing(error) || error instanceof NobodyAnswers) record.unanswered -= 1;
      throw error;
    });
    record.unanswered -= 1;
    return JSON.parse(message.string());
  }
}

/** Milliseconds. */
function left(end: number): number {
  return Math.max(1, end - performance.now());
}

interface Before {
  /** The record that this one can only follow. */
  readonly expected: number | undefined;
  /** The newest one of the part that was known; 0 for none. */
  readonly last: number;
}

function placeIn({ seq, duplicate, error }: Answer, { expected, last }: Before, { doing }: Publishing): Published {
  if (error !== undefined) throw apiFailure(doing, error);
  // Servers of 2.9 say so of a record that an earlier try brought on its way, and that may not arrive.
  if (seq === NOT_PLACED) throw logUnavailable(doing, "an earlier try is still on its way into the stream");
  if (seq === undefined || !Number.isSafeInteger(seq)) throw apiFailure(doing, { description: "no sequence" });
  // One that is there already was placed by an earlier try, which may have expected something else.
  const previous = duplicate === true ? undefined : (expected ?? (seq === last + 1 ? last : undefined));
  return { seq, previous: previous === 0 ? -1 : previous };
}

function isPassing(error: unknown): boolean {
  return codeOf(error) === "LOG_UNAVAILABLE";
}
