import { setTimeout as wait } from "node:timers/promises";
import { isRecord } from "../../sdk/event.js";
import { AgentError, codeOf, reasonOf } from "../../sdk/index.js";
import { HttpError } from "../answers.js";
import { allSubscriptions } from "./all-subscriptions.js";
import { type BrokerApi, brokerFailure, type Caller, type NewSubscription, type Outcome } from "./broker-api.js";
import { type BrokerAnswer, type BrokerClient, brokerTimeout, type OpenCall } from "./broker-client.js";
import { addressOf, type BrokerEndpoint } from "./broker-targets.js";
import { type FoundSubscription, subscriptionsLike } from "./likeness.js";
import { createdId } from "./rest-subscriptions.js";

/** Maximum number of subscriptions that are being created; a creation goes on when its caller has left. */
const MOST_CREATIONS = 50;

/** Maximum number of listed subscriptions that are compared: comparing holds up everything else. */
const MOST_COMPARED = 20_000;

/** Maximum number of found subscriptions in an answer. */
const MOST_FOUND = 20;

interface Creation {
  readonly api: BrokerApi;
  readonly endpoint: BrokerEndpoint;
  readonly subscription: NewSubscription;
  readonly caller: Caller;
}

/**
 * Creates subscriptions at brokers. When the outcome stays unknown, it looks for the subscription there. The call is
 * not ended while it does: a broker may answer late, and some keep a subscription that never notifies when their
 * client leaves. For the same reason a caller that leaves does not end it.
 */
export class Creations {
  readonly #brokers: BrokerClient;
  #open = 0;

  constructor(brokers: BrokerClient) {
    this.#brokers = brokers;
  }

  /** Throws status 503 when too many are being created. */
  async create(creation: Creation): Promise<Outcome> {
    if (this.#open >= MOST_CREATIONS) {
      throw new HttpError(503, { error: `${MOST_CREATIONS} subscriptions are being created. Try again later` });
    }
    this.#open += 1;
    const ended = new AbortController();
    try {
      return await this.#created(creation, ended.signal);
    } finally {
      ended.abort();
      this.#open -= 1;
    }
  }

  async #created(creation: Creation, ended: AbortSignal): Promise<Outcome> {
    const { api, endpoint, subscription, caller } = creation;
    const call = this.#brokers.open(endpoint, api.creation(subscription, caller), ended);
    const answered = answerOrError(call);
    const millis = this.#brokers.createTimeoutMillis;
    const first = await Promise.race([
      answered,
      wait(millis, undefined, { ref: false, signal: ended }).catch(() => {}),
    ]);
    if (first === undefined && !call.reached()) throw brokerTimeout(endpoint, millis);
    if (first !== undefined && !isUnknown(first, call)) return outcomeOf(first, api);
    const looking = this.#look(creation, ended);
    const late = first === undefined ? await Promise.race([answered, looking.then(() => undefined)]) : undefined;
    if (late !== undefined && !isUnknown(late, call)) return outcomeOf(late, api);
    return unknownOutcome(first ?? brokerTimeout(endpoint, millis), endpoint, await looking);
  }

  /** Never rejects. */
  async #look({ api, endpoint, subscription, ...creation }: Creation, signal: AbortSignal): Promise<Look> {
    const { reading } = api;
    const caller = { ...creation.caller, link: linkOf(subscription.members) ?? creation.caller.link };
    if (reading === undefined) return { failure: "this API cannot list subscriptions" };
    try {
      const listed = await allSubscriptions({ brokers: this.#brokers, endpoint, reading, caller, signal });
      if ("answer" in listed) return { failure: `looking for it was answered with status ${listed.answer.status}` };
      const { length } = listed.subscriptions;
      if (length > MOST_COMPARED)
        return { failure: `the broker lists ${length} subscriptions, too many to look for it` };
      return { found: subscriptionsLike(subscription.members, listed.subscriptions) };
    } catch (error) {
      return { failure: `looking for it failed (${reasonOf(error)})` };
    }
  }
}

/** The header that makes an NGSI-LD broker list with the names of the context that the subscription holds. */
function linkOf(members: unknown): string | undefined {
  const context = isRecord(members) ? members["@context"] : undefined;
  if (typeof context !== "string" || !/^https?:\/\/[!-;=?-~]+$/.test(context)) return undefined;
  return `<${context}>; rel="http://www.w3.org/ns/json-ld#context"; type="application/ld+json"`;
}

type Look = { readonly found: readonly FoundSubscription[] } | { readonly failure: string };

async function answerOrError({ answer }: OpenCall): Promise<BrokerAnswer | AgentError> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof AgentError) return error;
    throw error;
  }
}

/** Whether the broker may have stored the subscription without saying so: cut off, a proxy's time-out, or no id. */
function isUnknown(result: BrokerAnswer | AgentError, call: OpenCall): boolean {
  if (result instanceof AgentError) return call.reached() && codeOf(result) !== "BROKER_NOT_ALLOWED";
  const { status, body } = result;
  if (status === 502 || status === 504) return true;
  return status >= 200 && status < 300 && createdId(result) === undefined && body === undefined;
}

function outcomeOf(result: BrokerAnswer | AgentError, api: BrokerApi): Outcome {
  if (result instanceof AgentError) throw result;
  return api.created(result);
}

function unknownOutcome(why: BrokerAnswer | AgentError, endpoint: BrokerEndpoint, look: Look): Outcome {
  const failure = why instanceof AgentError ? brokerFailure(why) : undefined;
  const answered = `calling broker "${addressOf(endpoint)}", which answered with status`;
  const reason = why instanceof AgentError ? reasonOf(why) : `${answered} ${why.status} and without an id`;
  const error = `${reason}; the subscription may exist: ${finding(look)}`;
  const found = "found" in look ? { found: look.found.slice(0, MOST_FOUND) } : {};
  const answer = why instanceof AgentError || why.body === undefined ? {} : { answer: why.body };
  return { status: failure?.status ?? 502, payload: { error, result: { ...found, ...answer } } };
}

function finding(look: Look): string {
  const check = "check the broker before you repeat the call";
  if ("failure" in look) return `${look.failure}; ${check}`;
  const { found } = look;
  if (found.length === 0) return `none like it was found, but the broker may still create it; ${check}`;
  const ids = found.slice(0, MOST_FOUND).map(({ id }) => JSON.stringify(id));
  return `the broker has ${found.length} like it, ${ids.join(", ")}, from this call or an earlier one`;
}
