import { done, type Outcome, type PageWindow, relayed, unknownSubscription } from "./broker-api.js";
import type { BrokerAnswer, BrokerRequest } from "./broker-client.js";

/** The path of a subscription. An id of dots is encoded: some servers treat it as a directory. */
export function resourcePath(collection: string, id: string): string {
  return `${collection}/${encodeURIComponent(id).replace(/^\.+$/, (dots) => dots.replaceAll(".", "%2E"))}`;
}

export function jsonPost(path: string, body: unknown, headers: BrokerRequest["headers"]): BrokerRequest {
  const content = { "Content-Type": "application/json", ...headers };
  return { method: "POST", path, headers: content, body: JSON.stringify(body) };
}

/** The id is the last segment of the header Location. */
export function createdResource(answer: BrokerAnswer): Outcome {
  const id = lastSegment(answer.headers.location);
  return answer.status >= 200 && answer.status < 300 && id !== undefined
    ? done({ SubscriptionID: id })
    : relayed(answer);
}

export function deletedResource(answer: BrokerAnswer): Outcome {
  if (answer.status === 204 || answer.status === 200) return done("Subscription deleted");
  return answer.status === 404 ? unknownSubscription(answer, notFound) : relayed(answer);
}

export function readResource(answer: BrokerAnswer): Outcome {
  if (answer.status === 200 && answer.body !== undefined) return done(answer.body);
  return answer.status === 404 ? unknownSubscription(answer, notActive) : relayed(answer);
}

const notFound = { description: "The requested subscription has not been found. Check id", error: "NotFound" } as const;

const notActive = {
  description: "",
  error: "subscriptionId does not correspond to an active subscription",
} as const;

function lastSegment(location: string | undefined): string | undefined {
  const [path = ""] = (location ?? "").split(/[?#]/, 1);
  const segment = path.split("/").findLast((part) => part !== "");
  if (segment === undefined) return undefined;
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Subscriptions of one page; all brokers allow this number. */
const PAGE = 100;

/** Maximum number of pages that are read. */
const MOST_PAGES = 1000;

/** Reads all pages of a broker; the outcome holds all subscriptions in one list. */
export async function allSubscriptions(
  page: (window: PageWindow) => Promise<BrokerAnswer>,
  countHeader: string,
): Promise<Outcome> {
  const found: unknown[] = [];
  let last = "";
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    const answer = await page({ limit: PAGE, offset: found.length });
    if (answer.status !== 200 || !Array.isArray(answer.body)) return relayed(answer);
    const text = JSON.stringify(answer.body);
    // A broker that does not support offset sends the same page again.
    if (text === last) break;
    last = text;
    found.push(...answer.body);
    if (answer.body.length === 0 || isComplete(found.length, answer, countHeader)) break;
  }
  return done({ result: found });
}

/** Without a count, another page is expected only after a page of exactly the requested size. */
function isComplete(found: number, { headers, body }: BrokerAnswer, countHeader: string): boolean {
  const count = headers[countHeader];
  if (typeof count === "string" && /^\d+$/.test(count)) return found >= Number(count);
  return !Array.isArray(body) || body.length !== PAGE;
}
