import { type IncomingMessage, request } from "node:http";
import { buffer } from "node:stream/consumers";
import type { Request, Response } from "express";
import { HttpError } from "../answers.js";
import { documentOf } from "./documents.js";
import type { Team, WorkerTokens, WorkerView } from "./team.js";

/** Milliseconds that a worker has to answer: an explanation or a comparison with a store takes its time. */
const LONGEST = 60_000;

/** A call for a worker. */
export interface WorkerCall {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
}

/** What a worker answered. */
export interface WorkerAnswer {
  readonly worker: WorkerView;
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

/** Headers of a caller that a worker gets. */
const passed = ["content-type", "accept", "link", "ngsild-tenant"];

/** Calls the management interfaces of workers. */
export class WorkerCalls {
  readonly #team: Team;
  readonly #tokens: WorkerTokens | undefined;

  constructor(team: Team, tokens: WorkerTokens | undefined) {
    this.#team = team;
    this.#tokens = tokens;
  }

  get running(): readonly WorkerView[] {
    return this.#team.workers.filter(({ state }) => state === "running");
  }

  /** Those that run. Throws 503 while none does. */
  get someRunning(): readonly WorkerView[] {
    const { running } = this;
    if (running.length > 0) return running;
    throw noneRuns();
  }

  get first(): WorkerView {
    const [first] = this.running;
    if (first !== undefined) return first;
    throw noneRuns();
  }

  /** All of them. Throws 503 when one does not run: what concerns all is done by all, or not at all. */
  get all(): readonly WorkerView[] {
    const missing = this.#team.workers.find(({ state }) => state !== "running");
    if (missing === undefined) return this.#team.workers;
    const error = `Worker ${missing.number} does not run now (${missing.state}); try again when it does. Nothing was changed`;
    throw new HttpError(503, { error });
  }

  /** The call of a caller as a worker gets it: with its rights, and without its token. */
  of(incoming: Request, response: Response, path = incoming.originalUrl): WorkerCall {
    const names = [...passed, ...Object.keys(incoming.headers).filter((name) => name.startsWith("fiware-"))];
    const headers: Record<string, string> = {};
    for (const name of names) {
      const value = incoming.get(name);
      if (value !== undefined) headers[name] = value;
    }
    const correlator = response.get("fiware-correlator");
    if (correlator !== undefined) headers["fiware-correlator"] = correlator;
    const role: unknown = response.locals["role"];
    if (this.#tokens !== undefined && (role === "read" || role === "admin")) {
      headers["authorization"] = `Bearer ${this.#tokens[role]}`;
    }
    return { method: incoming.method, path, headers, body: Buffer.isBuffer(incoming.body) ? incoming.body : undefined };
  }

  /** A call of the supervisor itself. */
  own(path: string): WorkerCall {
    const headers = this.#tokens === undefined ? {} : { authorization: `Bearer ${this.#tokens.read}` };
    return { method: "GET", path, headers };
  }

  /** Rejects with 503 when the worker does not answer. */
  async ask(worker: WorkerView, call: WorkerCall): Promise<WorkerAnswer> {
    const signal = AbortSignal.timeout(LONGEST);
    try {
      const answer = await this.open(worker, call, signal);
      const { statusCode: status = 0, headers } = answer;
      return { worker, status, headers, body: await buffer(answer) };
    } catch (cause) {
      throw new HttpError(503, { error: `Worker ${worker.number} does not answer; try again in a moment` }, { cause });
    }
  }

  /** The answers of those that answer. */
  async each(workers: readonly WorkerView[], call: WorkerCall): Promise<readonly WorkerAnswer[]> {
    const outcomes = await Promise.allSettled(workers.map((worker) => this.ask(worker, call)));
    return outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
  }

  /** An answer that has begun; its body is still to be read. */
  async open(worker: WorkerView, call: WorkerCall, signal: AbortSignal): Promise<IncomingMessage> {
    const { method, path, headers = {}, body } = call;
    const length = body === undefined ? {} : { "content-length": String(body.byteLength) };
    return await new Promise<IncomingMessage>((resolve, reject) => {
      const outgoing = request({
        socketPath: worker.socket,
        method,
        path,
        headers: { host: "localhost", ...headers, ...length },
        agent: false,
        signal,
      });
      outgoing.on("error", reject);
      outgoing.on("response", resolve);
      outgoing.end(body);
    });
  }
}

/** The answers, unless one of them refuses: then its refusal is thrown. */
export function accepted(answers: readonly WorkerAnswer[]): readonly WorkerAnswer[] {
  const refused = answers.find(({ status }) => status >= 300);
  if (refused === undefined) return answers;
  const { success: _, ...payload } = documentOf(refused);
  throw new HttpError(refused.status, payload);
}

function noneRuns(): HttpError {
  return new HttpError(503, { error: "No worker of the agent runs; try again in a moment" });
}
