import type { LogRecord } from "deneb/log";
import { apiFailure } from "./errors.js";
import type { Link } from "./link.js";

const NOT_FOUND = 404;
/** No record of a stream has one before it. */
const FIRST_SEQUENCE = 1;

interface Getting {
  readonly link: Link;
  readonly stream: string;
  /** The subject of a part. */
  readonly subject: string;
  /** What is being done, for messages. */
  readonly doing: string;
}

/** The first record of a part from this sequence on, or its last one; undefined when there is none. */
export async function recordOf(
  { link, stream, subject, doing }: Getting,
  which: { readonly from: number } | "last",
): Promise<LogRecord | undefined> {
  const from = which === "last" ? 0 : Math.max(FIRST_SEQUENCE, which.from);
  const wanted = which === "last" ? { last_by_subj: subject } : { seq: from, next_by_subj: subject };
  const asking = { doing, subject: `$JS.API.DIRECT.GET.${stream}`, payload: JSON.stringify(wanted) };
  const { headers, data } = await link.ask(asking);
  if (headers === undefined) throw apiFailure(doing, { description: "an answer without a sequence" });
  if (headers.code === NOT_FOUND) return undefined;
  const offset = Number(headers.get("Nats-Sequence"));
  if (headers.code > 0 || headers.get("Nats-Subject") !== subject || !Number.isSafeInteger(offset) || offset < from) {
    throw apiFailure(doing, { code: headers.code, description: headers.description });
  }
  return { offset, value: data };
}
