import { done, type Outcome, relayed, unknownSubscription } from "./broker-api.js";
import type { BrokerAnswer, BrokerRequest } from "./broker-client.js";

/** The path of a subscription. An id of dots is encoded: some servers treat it as a directory. */
export function resourcePath(collection: string, id: string): string {
  return `${collection}/${encodeURIComponent(id).replace(/^\.+$/, (dots) => dots.replaceAll(".", "%2E"))}`;
}

export function jsonPost(path: string, body: string, headers: BrokerRequest["headers"]): BrokerRequest {
  return { method: "POST", path, headers: { "Content-Type": "application/json", ...headers }, body };
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
