import type { MsgHdrs } from "@nats-io/transport-node";
import type { LogRecord } from "deneb/log";
import { apiCodes, apiFailure, isAnswer } from "./errors.js";
import type { Link } from "./link.js";

const NOT_FOUND = 404;
/** No record of a stream has one before it. */
const FIRST_SEQUENCE = 1;

interface Wanted {
  /** The subject of a part. */
  readonly subject: string;
  /** The first record of the part from this sequence on, or its last one. */
  readonly which: { readonly from: number } | "last";
  /** What is being done, for messages. */
  readonly doing: string;
}

/** A record as `STREAM.MSG.GET` answers it; its bytes in base64. */
interface Kept {
  readonly message: { readonly subject: string; readonly seq: number; readonly data?: string };
}

/**
 * Single records of a stream. Direct gets are answered by mirrors, too, which servers do not tell: a mirror may lack records, and
 * have those of a former stream of this name. Once one has answered, the leader of the stream is asked instead.
 */
export class StreamRecords {
  readonly #link: Link;
  readonly #stream: string;
  #isMirrored = false;

  constructor(link: Link, stream: string) {
    this.#link = link;
    this.#stream = stream;
  }

  /** Undefined when there is none. */
  async find({ subject, which, doing }: Wanted): Promise<LogRecord | undefined> {
    const from = which === "last" ? 0 : Math.max(FIRST_SEQUENCE, which.from);
    const question = which === "last" ? { last_by_subj: subject } : { seq: from, next_by_subj: subject };
    const found = this.#isMirrored ? "mirror" : await this.#direct(question, doing);
    const record = found === "mirror" ? await this.#ofLeader(question, doing) : found;
    if (record === undefined) return undefined;
    const { offset, value } = record;
    if (record.subject !== subject || !Number.isSafeInteger(offset) || offset < from) {
      throw apiFailure(doing, { description: `a record of "${record.subject}" with the sequence ${offset}` });
    }
    return { offset, value };
  }

  /** What a server that keeps a copy answers. */
  async #direct(question: object, doing: string): Promise<Found | "mirror" | undefined> {
    const subject = `$JS.API.DIRECT.GET.${this.#stream}`;
    const { headers, data } = await this.#link.ask({ doing, subject, payload: JSON.stringify(question) });
    if (headers === undefined) throw apiFailure(doing, { description: "an answer without a sequence" });
    if (headers.code === NOT_FOUND) return undefined;
    if (headers.code > 0) throw apiFailure(doing, { code: headers.code, description: headers.description });
    if (headers.get("Nats-Stream") !== this.#stream) {
      this.#isMirrored = true;
      return "mirror";
    }
    return { ...placeOf(headers), value: data };
  }

  async #ofLeader(question: object, doing: string): Promise<Found | undefined> {
    const call = `STREAM.MSG.GET.${this.#stream}`;
    try {
      const { message } = await this.#link.api<Kept>(doing, call, { body: question });
      const value = Buffer.from(message.data ?? "", "base64");
      return { subject: message.subject, offset: message.seq, value };
    } catch (error) {
      if (isAnswer(error, apiCodes.messageNotFound)) return undefined;
      throw error;
    }
  }
}

interface Found extends LogRecord {
  readonly subject: string;
}

function placeOf(headers: MsgHdrs): Pick<Found, "subject" | "offset"> {
  return { subject: headers.get("Nats-Subject"), offset: Number(headers.get("Nats-Sequence")) };
}
