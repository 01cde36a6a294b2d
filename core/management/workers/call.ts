import type { IncomingHttpHeaders } from "node:http";
import type { Request, Response } from "express";
import type { JsonObject } from "../../agent/live/merge-patch.js";
import { disconnected, isChanging } from "../requests.js";
import { objectOf } from "./json.js";
import { nobodyAnswers } from "./refusals.js";
import { runningIn, type Team, type WorkerView } from "./team.js";
import { ask, LONGEST, type WorkerAnswer, type WorkerRequest } from "./worker-call.js";

/** A call of the gateway: what came in, and the workers that it is for. */
export interface Call {
  readonly team: Team;
  readonly request: Request;
  readonly response: Response;
}

/** What is asked in place of the call itself. */
export interface Asked {
  /** With its query. */
  readonly path?: string;
  readonly method?: string;
  /** Milliseconds for each worker. */
  readonly limit?: number;
}

/** The JSON of one worker. */
export interface Told {
  readonly worker: WorkerView;
  readonly body: JsonObject;
}

/** The request that a worker gets of a call: never its token. */
export function requestOf({ request, response }: Call, { path, method }: Asked = {}): WorkerRequest {
  const { body } = request;
  return {
    method: method ?? request.method,
    path: path ?? request.url,
    headers: { ...passed(request.headers), "fiware-correlator": response.get("fiware-correlator") ?? "" },
    body: Buffer.isBuffer(body) && body.length > 0 ? body : undefined,
  };
}

function passed(headers: IncomingHttpHeaders): Record<string, string | readonly string[]> {
  const names = /^(?:content-type|link|ngsild-tenant|fiware-.+)$/;
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value !== undefined && names.test(name) ? [[name, value] as const] : [],
    ),
  );
}

/** Asks these workers at once; a failure in place of the answer of one that does not give any. */
export async function askAll(
  call: Call,
  workers: readonly WorkerView[],
  asked: Asked | ((worker: WorkerView) => Asked) = {},
): Promise<
  readonly { readonly worker: WorkerView; readonly answer: WorkerAnswer | undefined; readonly failure?: unknown }[]
> {
  // A change goes on where it was begun.
  const signal = isChanging(call.request) ? undefined : disconnected(call.response);
  return await Promise.all(
    workers.map(async (worker) => {
      const what = typeof asked === "function" ? asked(worker) : asked;
      try {
        const answer = await ask(worker, requestOf(call, what), { limit: what.limit ?? LONGEST, signal });
        return { worker, answer };
      } catch (failure) {
        return { worker, answer: undefined, failure };
      }
    }),
  );
}

/** The answers of the workers that run and give one; throws status 503 when none does. */
export async function answersOf(
  call: Call,
  asked: Asked | ((worker: WorkerView) => Asked) = {},
  workers: readonly WorkerView[] = runningIn(call.team),
): Promise<readonly WorkerAnswer[]> {
  const answers = (await askAll(call, workers, asked)).flatMap(({ answer }) => answer ?? []);
  if (answers.length === 0) throw nobodyAnswers(call);
  return answers;
}

/** What those workers answered that have something to say; undefined when all refuse. */
export function toldBy(answers: readonly WorkerAnswer[]): readonly Told[] {
  return answers.flatMap(({ worker, status, body }) => (isOk(status) ? [{ worker, body: objectOf(body) }] : []));
}

export function isOk(status: number): boolean {
  return status >= 200 && status < 300;
}

/** Passes the answer of a worker on. */
export function passOn({ response }: Pick<Call, "response">, { status, headers, body }: WorkerAnswer): void {
  response.status(status).set(headersOf(headers)).end(body);
}

/** The headers of a worker's answer that count for the caller; the others are the gateway's own. */
export function headersOf(headers: IncomingHttpHeaders): Record<string, string> {
  const { "content-type": type, "retry-after": retryAfter } = headers;
  return {
    ...(type === undefined ? {} : { "Content-Type": type }),
    ...(retryAfter === undefined ? {} : { "Retry-After": retryAfter }),
  };
}
