import type { IncomingHttpHeaders } from "node:http";
import type { Request, Response } from "express";
import type { JsonObject } from "../../agent/live/merge-patch.js";
import { isChanging } from "../requests.js";
import { objectOf } from "./json.js";
import { nobodyAnswers } from "./refusals.js";
import { isSilent, runningIn, type Team, type WorkerView } from "./team.js";
import { ask, LONGEST, type WorkerAnswer, type WorkerRequest } from "./worker-call.js";

/** A call of the gateway: what came in, and the workers that it is for. */
export interface Call {
  readonly team: Team;
  readonly request: Request;
  readonly response: Response;
  /** Aborts when the caller disconnects. */
  readonly signal: AbortSignal;
}

/** What is asked in place of the call itself. */
export interface Asked {
  /** With its query. */
  readonly path?: string;
  readonly method?: string;
  /** Undefined for none; absent: that of the call. */
  readonly body?: Buffer | undefined;
  /** Milliseconds for each worker. */
  readonly limit?: number;
}

/** The JSON of one worker. */
export interface Told {
  readonly worker: WorkerView;
  readonly body: JsonObject;
}

/** The request that a worker gets of a call: never its token. */
export function requestOf({ request, response }: Call, asked: Asked = {}): WorkerRequest {
  const body: unknown = "body" in asked ? asked.body : request.body;
  return {
    method: asked.method ?? request.method,
    path: asked.path ?? request.url,
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

/** What one worker is asked. */
export interface Question {
  readonly worker: WorkerView;
  readonly asked: Asked;
}

/** The answer to a question, or why there is none. */
export interface Reply {
  readonly worker: WorkerView;
  readonly answer: WorkerAnswer | undefined;
  readonly failure?: unknown;
}

/** Asks all at once. */
export async function askEach(call: Call, questions: readonly Question[]): Promise<readonly Reply[]> {
  // A change goes on where it was begun.
  const signal = isChanging(call.request) ? undefined : call.signal;
  return await Promise.all(
    questions.map(async ({ worker, asked }) => {
      try {
        const limits = { limit: asked.limit ?? LONGEST, signal, isSilent: () => isSilent(call.team, worker) };
        const answer = await ask(worker, requestOf(call, asked), limits);
        return { worker, answer };
      } catch (failure) {
        return { worker, answer: undefined, failure };
      }
    }),
  );
}

/** Asks all these workers the same. */
export async function askAll(call: Call, workers: readonly WorkerView[], asked: Asked = {}): Promise<readonly Reply[]> {
  return await askEach(
    call,
    workers.map((worker) => ({ worker, asked })),
  );
}

/** The answers of the workers that run and give one; throws status 503 when none does. */
export async function answersOf(
  call: Call,
  asked: Asked = {},
  workers: readonly WorkerView[] = runningIn(call.team),
): Promise<readonly WorkerAnswer[]> {
  return answersIn(call, await askAll(call, workers, asked));
}

/** The answers that were given; throws status 503 when there is none. */
export function answersIn(call: Call, replies: readonly Reply[]): readonly WorkerAnswer[] {
  const answers = replies.flatMap(({ answer }) => answer ?? []);
  if (answers.length === 0) throw nobodyAnswers(call);
  return answers;
}

/** What those told that did not refuse. */
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

const passedBack = ["content-type", "retry-after", "x-accel-buffering"] as const;

/** The headers of a worker's answer that count for the caller; the others are the gateway's own. */
export function headersOf(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    passedBack.flatMap((name) => {
      const value = headers[name];
      return typeof value === "string" ? [[name, value] as const] : [];
    }),
  );
}
