import { AgentError } from "../../sdk/index.js";
import type { Caller, PageWindow, Reading } from "./broker-api.js";
import { type BrokerAnswer, type BrokerClient, brokerTimeout, MOST_ANSWER_BYTES, tooLarge } from "./broker-client.js";
import type { BrokerEndpoint } from "./broker-targets.js";

/** Subscriptions of one page; all brokers allow this number. */
const PAGE = 100;

/** Maximum number of pages that are read. */
const MOST_PAGES = 1000;

/** All pages together may take this many times the time-out of one. */
const MOST_TIMEOUTS = 6;

/** Milliseconds after which every call has ended: a creation that is not answered, and the list that looks for it. */
export function longestCall({
  timeoutMillis,
  createTimeoutMillis,
}: Pick<BrokerClient, "timeoutMillis" | "createTimeoutMillis">): number {
  // The last page may begin at the end.
  return createTimeoutMillis + (MOST_TIMEOUTS + 1) * timeoutMillis;
}

interface Listing {
  readonly brokers: BrokerClient;
  readonly endpoint: BrokerEndpoint;
  readonly reading: Reading;
  readonly caller: Caller;
  readonly signal: AbortSignal;
}

/** The subscriptions of all pages of a broker, or the first answer that is no page. */
export async function allSubscriptions(listing: Listing): Promise<Found | NoPage> {
  const { brokers, endpoint, reading, caller, signal } = listing;
  const limit = brokers.timeoutMillis * MOST_TIMEOUTS;
  const deadline = AbortSignal.timeout(limit);
  const subscriptions: unknown[] = [];
  let bytes = 0;
  let last = "";
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    if (deadline.aborted) throw brokerTimeout(endpoint, limit);
    const window: PageWindow = { limit: PAGE, offset: subscriptions.length };
    const answer = await brokers.call(endpoint, reading.page(window, caller), signal);
    if (answer.status !== 200 || !Array.isArray(answer.body)) return { answer };
    // A broker that does not support offset sends the same page again.
    if (answer.text === last) return { subscriptions };
    last = answer.text;
    bytes += last.length;
    if (bytes > MOST_ANSWER_BYTES) throw tooLarge();
    for (const subscription of answer.body) subscriptions.push(subscription);
    if (answer.body.length === 0 || isComplete(subscriptions.length, answer, reading.countHeader))
      return { subscriptions };
  }
  throw tooManyPages();
}

function tooManyPages(): AgentError {
  const reason = `reading a list of subscriptions of more than ${MOST_PAGES} pages; read single ones with subscription_id`;
  return new AgentError("BROKER_ANSWER_TOO_LARGE", reason, { retryable: false });
}

interface Found {
  readonly subscriptions: readonly unknown[];
}

interface NoPage {
  readonly answer: BrokerAnswer;
}

/** Without a count, another page is expected only after a page of exactly the requested size. */
function isComplete(found: number, { headers, body }: BrokerAnswer, countHeader: string): boolean {
  const count = headers[countHeader];
  if (typeof count === "string" && /^\d+$/.test(count)) return found >= Number(count);
  return !Array.isArray(body) || body.length !== PAGE;
}
