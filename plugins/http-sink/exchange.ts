import { type Agent, request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { request as httpsRequest } from "node:https";
import { AgentError, codeOf } from "deneb/sdk";

export interface Call {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body: Uint8Array;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Of the content. */
  readonly bytes: number;
}

export interface Line {
  readonly agent: Agent;
  /** Milliseconds for all of it. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

/** One request and its whole answer, whatever its status. Throws code `HTTP_UNREACHABLE` (retryable) when there is none. */
export async function exchange(call: Call, { agent, timeout, signal }: Line): Promise<Answer> {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), timeout);
  const either = AbortSignal.any([deadline.signal, signal]);
  try {
    const answer = (await attempt(call, agent, either)) ?? (await attempt(call, agent, either));
    if (answer !== undefined) return answer;
    throw new Error("the connection was closed");
  } catch (cause) {
    const reason = deadline.signal.aborted ? `no whole answer within ${timeout} ms` : (codeOf(cause) ?? "no answer");
    const message = `sending to "${call.url.origin}${call.url.pathname}": ${reason}`;
    throw new AgentError("HTTP_UNREACHABLE", message, { cause, retryable: true });
  } finally {
    clearTimeout(timer);
  }
}

/** Undefined when a kept connection turned out to be closed by the other side: a new one may work. */
function attempt(call: Call, agent: Agent, signal: AbortSignal): Promise<Answer | undefined> {
  const { url, method, headers, body } = call;
  return new Promise((resolve, reject) => {
    const open = url.protocol === "https:" ? httpsRequest : httpRequest;
    const request = open(url, { method, headers, agent, signal });
    let answered = false;
    request.on("response", (response) => {
      answered = true;
      let bytes = 0;
      response.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
      });
      response.on("error", reject);
      response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes }));
    });
    request.on("error", (error) => {
      if (request.reusedSocket && !answered && codeOf(error) === "ECONNRESET") resolve(undefined);
      else reject(error);
    });
    request.end(body);
  });
}
