import type { Session } from "./session.js";

/** A call that the agent refused, or that did not reach it. */
export class CallFailure extends Error {
  /** 0 when no answer came. */
  readonly status: number;
  /** The answer, for calls whose refusals have details. */
  readonly answer: unknown;

  constructor(message: string, status: number, answer?: unknown) {
    super(message);
    this.status = status;
    this.answer = answer;
  }
}

type Parameter = string | number | boolean | undefined;

interface Call {
  readonly query?: Readonly<Record<string, Parameter>> | undefined;
  readonly body?: object | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Calls the management interface that serves the page, with the token of the session. */
export class AgentCalls {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** The answer as JSON; throws a CallFailure for any other than success. */
  async ask<Answer>(method: string, path: string, call: Call = {}): Promise<Answer> {
    const response = await this.open(method, path, call);
    const answer = parsed(await response.text().catch(() => ""));
    if (response.ok && answer !== undefined) return answer;
    throw failureOf(response, answer);
  }

  /** The body of an answer that goes on; throws as `ask` does. */
  async stream(path: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
    const response = await this.open("GET", path, { signal });
    if (response.ok && response.body !== null) return response.body;
    throw failureOf(response, parsed(await response.text().catch(() => "")));
  }

  /** The response itself. */
  async open(method: string, path: string, { query = {}, body, headers = {}, signal }: Call = {}): Promise<Response> {
    const { token } = this.#session;
    const authorization = token === undefined ? {} : { Authorization: `Bearer ${token}` };
    const content = body === undefined ? {} : { "Content-Type": "application/json" };
    const init: RequestInit = {
      method,
      headers: { ...headers, ...content, ...authorization },
      cache: "no-store",
      // What a proxy before the page asks for: its cookie, a password, a certificate. The agent reads none of it.
      credentials: "same-origin",
      // The agent never redirects.
      redirect: "manual",
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    };
    const response = await fetch(addressOf(path, query), init).catch((error: unknown) => {
      if (signal?.aborted === true) throw error;
      throw new CallFailure("The agent does not answer.", 0);
    });
    if (response.type === "opaqueredirect") {
      throw new CallFailure("A proxy leads elsewhere, to its login perhaps. Load the page again.", 0);
    }
    // A token that was replaced meanwhile is not the one that was refused.
    if (response.status === 401 && token === this.#session.token) this.#session.refused();
    return response;
  }
}

function failureOf({ status }: Response, answer: unknown): CallFailure {
  return new CallFailure(reasonIn(answer) ?? `The agent answered ${status}.`, status, answer);
}

/** Relative to the document, so that a proxy can add a path prefix. */
function addressOf(path: string, query: Readonly<Record<string, Parameter>>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  const parameters = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
  return `..${path}${parameters.size === 0 ? "" : `?${parameters}`}`;
}

function parsed(text: string): ReturnType<typeof JSON.parse> {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The members in which the interface gives reasons. */
function reasonIn(answer: unknown): string | undefined {
  if (typeof answer !== "object" || answer === null) return undefined;
  const { error, reason, result }: { error?: unknown; reason?: unknown; result?: unknown } = answer;
  const text = [error, reason, result].find((one) => typeof one === "string");
  // What a broker answered is passed on in `result`.
  return text ?? (result === undefined ? undefined : JSON.stringify(result));
}
