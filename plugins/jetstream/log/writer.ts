import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Appended, LogPart } from "deneb/log";
import { AgentError } from "deneb/sdk";
import { type ApiError, apiFailure, NobodyAnswers, recordTooLarge, wasFaster } from "./errors.js";
import type { Identity } from "./identity.js";
import type { Link } from "./link.js";
import type { Subjects } from "./subjects.js";

const PAUSE_MILLIS = 50;
/** After another agent was faster in a part, for so long no record of it is expected to follow the last one that is known. */
const CONTENDED_MILLIS = 1000;

export interface Writing {
  readonly link: Link;
  readonly stream: string;
  readonly subjects: Subjects;
  readonly identity: Identity;
  readonly largestRecord: number;
  /** Milliseconds for one append, repetitions included. */
  readonly timeout: number;
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

interface Publishing {
  readonly part: LogPart;
  readonly value: Uint8Array;
  readonly doing: string;
  /** The stream keeps one record of each id. */
  readonly id: string;
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
  readonly #name = randomBytes(12).toString("base64url");
  #count = 0;

  constructor(of: Writing) {
    this.#of = of;
  }

  /** A record of a part was seen. */
  saw(part: LogPart, offset: number): void {
    if (offset > (this.#last.get(part) ?? -1)) this.#last.set(part, offset);
  }

  async append(part: LogPart, value: Uint8Array): Promise<Appended> {
    const { identity, largestRecord, subjects, wrote } = this.#of;
    const doing = `appending a record to "${subjects.of(part)}"`;
    if (value.length > largestRecord) {
      throw recordTooLarge(
        doing,
        `it has ${value.length} bytes, and the servers take ${largestRecord}; raise their max_payload`,
      );
    }
    const before = identity.newest;
    const { seq, previous } = await this.#publish(part, value, doing);
    if (seq <= before) identity.refuse(seq, before);
    identity.saw(seq);
    this.#last.set(part, seq);
    wrote(part, seq);
    return { offset: seq, previous };
  }

  /** Repeats what got no answer, under the same name, so that the stream keeps one of them. */
  async #publish(part: LogPart, value: Uint8Array, doing: string): Promise<Published> {
    const end = performance.now() + this.#of.timeout;
    this.#count += 1;
    const id = `${this.#name}.${this.#count}`;
    for (;;) {
      try {
        await this.#of.identity.assured(doing, left(end));
        return await this.#placed({ part, value, doing, id, end });
      } catch (error) {
        if (error instanceof NobodyAnswers) await this.#of.identity.check(left(end));
        if (!lostAnswer(error) || performance.now() + PAUSE_MILLIS >= end) throw error;
        await delay(PAUSE_MILLIS);
      }
    }
  }

  /**
   * The stream takes a record only after the one that is expected to be the last of its subject; that tells the record
   * before it. When another agent was faster, that one has to be read anyway: the record goes to wherever it falls.
   */
  async #placed(publishing: Publishing): Promise<Published> {
    const { part } = publishing;
    const isContended = (this.#contended.get(part) ?? 0) > performance.now();
    const expected = isContended ? undefined : (this.#last.get(part) ?? 0);
    const found = await this.#try(publishing, expected);
    if (found.error === undefined || !wasFaster(found.error)) return placeIn(found, expected, publishing);
    this.#contended.set(part, performance.now() + CONTENDED_MILLIS);
    return placeIn(await this.#try(publishing, undefined), undefined, publishing);
  }

  async #try({ part, value, doing, id, end }: Publishing, expected: number | undefined): Promise<Answer> {
    const within = Math.min(left(end), this.#of.link.tryMillis);
    const headers = {
      "Nats-Msg-Id": id,
      "Nats-Expected-Stream": this.#of.stream,
      ...(expected === undefined ? {} : { "Nats-Expected-Last-Subject-Sequence": String(expected) }),
    };
    const subject = this.#of.subjects.of(part);
    const message = await this.#of.link.request({ doing, subject, payload: value, headers, within });
    return JSON.parse(message.string());
  }
}

/** Milliseconds. */
function left(end: number): number {
  return Math.max(1, end - performance.now());
}

function placeIn({ seq, duplicate, error }: Answer, expected: number | undefined, { doing }: Publishing): Published {
  if (error !== undefined) throw apiFailure(doing, error);
  if (seq === undefined || !Number.isSafeInteger(seq)) throw apiFailure(doing, { description: "no sequence" });
  // One that is there already was placed by an earlier try, which may have expected something else.
  const previous = duplicate === true ? undefined : expected;
  return { seq, previous: previous === 0 ? -1 : previous };
}

function lostAnswer(error: unknown): boolean {
  return error instanceof AgentError && error.code === "LOG_UNAVAILABLE";
}
