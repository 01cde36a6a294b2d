import { randomBytes } from "node:crypto";
import { apiCodes, isAnswer } from "./errors.js";
import type { Link } from "./link.js";

const NANOS = 1_000_000;

export interface Consuming {
  readonly link: Link;
  readonly stream: string;
  /** The subject of a part. */
  readonly subject: string;
  /** What is being done, for messages. */
  readonly doing: string;
}

/** Where a consumer begins, and what it delivers. */
interface ConsumerOrder {
  readonly begins: { readonly deliver_policy: "all" | "last" } | { readonly from: number };
  readonly headersOnly?: boolean;
  /** Milliseconds after which the server removes it when nobody asks it. */
  readonly idleMillis: number;
}

/** Makes a consumer of one part in the memory of one server, which nobody acknowledges anything to; its name. */
export async function makeConsumer(
  { link, stream, subject, doing }: Omit<Consuming, "link"> & { readonly link: Pick<Link, "api"> },
  { begins, headersOnly = false, idleMillis }: ConsumerOrder,
): Promise<string> {
  const name = `deneb-${randomBytes(9).toString("hex")}`;
  const config = {
    name,
    filter_subject: subject,
    ...("from" in begins ? { deliver_policy: "by_start_sequence", opt_start_seq: begins.from } : begins),
    ack_policy: "none",
    ...(headersOnly ? { headers_only: true } : {}),
    mem_storage: true,
    num_replicas: 1,
  };
  const made = (limits: object) =>
    link.api(doing, `CONSUMER.CREATE.${stream}.${name}.${subject}`, {
      body: { stream_name: stream, config: { ...config, ...limits } },
    });
  await made({ inactive_threshold: idleMillis * NANOS }).catch((error: unknown) => {
    // Where the stream allows consumers less time (consumer_limits), it gives them that.
    if (!isAnswer(error, apiCodes.idleTooLong)) throw error;
    return made({});
  });
  return name;
}

/** The server removes one that this does not reach after its time without questions. */
export async function removeConsumer({ link, stream, doing }: Omit<Consuming, "subject">, name: string): Promise<void> {
  await link.api(doing, `CONSUMER.DELETE.${stream}.${name}`).catch(() => undefined);
}

/** What a consumer is asked for. */
interface Wanted {
  /** Records. */
  readonly batch: number;
  /** Bytes of them all, with their headers. */
  readonly bytes?: number;
  /** Milliseconds after which the question is over. */
  readonly expires: number;
}

/** The subject on which a consumer is asked for records, and the question. */
export function asksFor(stream: string, name: string, { batch, bytes, expires }: Wanted) {
  const limit = bytes === undefined ? {} : { max_bytes: bytes };
  const payload = { batch, ...limit, expires: Math.ceil(expires * NANOS) };
  return { subject: `$JS.API.CONSUMER.MSG.NEXT.${stream}.${name}`, payload: JSON.stringify(payload) };
}

/** Where a record stands that a consumer delivered. */
interface Delivered {
  readonly sequence: number;
  /** How many the consumer has delivered, this one included. */
  readonly count: number;
  /** How many it had left then. */
  readonly pending: number;
}

/**
 * From `$JS.ACK.<stream>.<consumer>.<times>.<sequence>.<count>.<time>.<pending>`, with domain and account before the stream on some
 * servers.
 */
export function deliveredOf(reply: string, name: string): Delivered | undefined {
  const words = reply.split(".");
  const at = words.indexOf(name);
  if (at === -1) return undefined;
  const [sequence = Number.NaN, count = Number.NaN, , pending = Number.NaN] = words.slice(at + 2, at + 6).map(Number);
  const isPlace = [sequence, count, pending].every((number) => Number.isSafeInteger(number));
  return isPlace ? { sequence, count, pending } : undefined;
}
