import { done, type Outcome, relayed, unknownSubscription } from "./broker-api.js";
import type { BrokerAnswer, BrokerRequest } from "./broker-client.js";

/** The path of a subscription. An id of dots is encoded: some servers treat it as a directory. */
export function resourcePath(collection: string, id: string): string {
  return `${collection}/${encodeURIComponent(id).replace(/^\.+$/, (dots) => dots.replaceAll(".", "%2E"))}`;
}

export function jsonPost(path: string, body: string, headers: BrokerRequest["headers"]): BrokerRequest {
  return { method: "POST", path, headers: { "Content-Type": "application/json", ...headers }, body };
}

export function createdResource(answer: BrokerAnswer): Outcome {
  const id = createdId(answer);
  return answer.status >= 200 && answer.status < 300 && id !== undefined
    ? done({ SubscriptionID: id })
    : relayed(answer);
}

/** The id is the last segment of the header Location; that of the collection alone names none. */
export function createdId({ headers }: Pick<BrokerAnswer, "headers">): string | undefined {
  const segments = segmentsOf(headers.location);
  const [id, collection] = [segments.at(-1), segments.at(-2)];
  return id === "subscriptions" && collection !== "subscriptions" ? undefined : id;
}

export function deletedResource(answer: BrokerAnswer): Outcome {
  if (answer.status === 204 || (answer.status === 200 && !isPage(answer))) return done("Subscription deleted");
  return answer.status === 404 ? unknownSubscription(answer, notFound) : relayed(answer);
}

/** What a proxy in front of the broker answers, such as a page to log in. */
function isPage({ text, body }: BrokerAnswer): boolean {
  return body === undefined && text.trim() !== "";
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

function segmentsOf(location = ""): readonly string[] {
  const [path = ""] = location.split(/[?#]/, 1);
  return path
    .split("/")
    .filter((part) => part !== "")
    .map(decoded);
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
