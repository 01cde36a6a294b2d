import type { BrokerAnswer } from "../broker/broker-client.js";
import type { PageWindow } from "./broker-api.js";
import { done, type Outcome, relayed } from "./outcome.js";

/** Every kind of broker allows this many in one answer. */
const PAGE = 100;

/** Enough for any broker. */
const MOST_PAGES = 1000;

/** Reads page after page until the broker has no more, and tells all subscriptions in one list. */
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
    // A broker that knows no offset sends the same again.
    if (text === last) break;
    last = text;
    found.push(...answer.body);
    if (answer.body.length === 0 || isComplete(found.length, answer, countHeader)) break;
  }
  return done({ result: found });
}

/** Without a count, only a page of exactly the asked size may have another behind it. */
function isComplete(found: number, { headers, body }: BrokerAnswer, countHeader: string): boolean {
  const count = headers[countHeader];
  if (typeof count === "string" && /^\d+$/.test(count)) return found >= Number(count);
  return !Array.isArray(body) || body.length !== PAGE;
}
