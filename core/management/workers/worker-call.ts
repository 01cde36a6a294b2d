import { type IncomingHttpHeaders, type IncomingMessage, request as requestOver } from "node:http";
import { buffer } from "node:stream/consumers";
import { AgentError } from "../../sdk/index.js";
import { nameOf, type WorkerView } from "./team.js";

/** What is asked of a worker. */
export interface WorkerRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Buffer | undefined;
}

export interface WorkerAnswer {
  readonly worker: WorkerView;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface CallLimits {
  /** Milliseconds until the answer begins. */
  readonly limit: number;
  /** Ends the call. */
  readonly signal: AbortSignal | undefined;
  /** Whether the supervisor hears nothing of the worker any more; absent: nobody asks. */
  readonly isSilent?: () => boolean;
}

/** Milliseconds between two looks at whether the worker is silent. */
const LOOK = 250;

/** Milliseconds; a reload answers after 60 seconds that it still runs. */
export const LONGEST = 65_000;

/**
 * Asks a worker and resolves when its answer begins. Throws code WORKER_UNREACHABLE when it was not reached and nothing was
 * asked, WORKER_LATE when it did not answer in time, WORKER_SILENT when its supervisor says so before, WORKER_BROKE_OFF when the
 * connection ended before.
 */
export function open(worker: WorkerView, request: WorkerRequest, limits: CallLimits): Promise<IncomingMessage> {
  const { method, path, headers, body } = request;
  const length = body === undefined ? {} : { "Content-Length": String(body.length) };
  return new Promise((resolve, reject) => {
    let connected = false;
    const call = requestOver({
      socketPath: worker.socket,
      method,
      path,
      agent: false,
      headers: { ...copied(headers), ...length, Host: "localhost" },
      ...(limits.signal === undefined ? {} : { signal: limits.signal }),
    });
    const answered = watched(worker, limits, (error) => call.destroy(error));
    call.on("socket", (socket) => socket.once("connect", () => (connected = true)));
    call.on("response", (response) => {
      answered();
      // Whoever reads the answer sees that it breaks off.
      response.on("error", () => undefined);
      resolve(response);
    });
    call.on("error", (cause) => {
      answered();
      if (cause instanceof AgentError) reject(cause);
      else reject(connected ? brokeOff(worker, cause) : unreachable(worker, cause));
    });
    call.end(body);
  });
}

/** The same with the whole answer, within the limit. */
export async function ask(worker: WorkerView, request: WorkerRequest, limits: CallLimits): Promise<WorkerAnswer> {
  const response = await open(worker, request, limits);
  const answered = watched(worker, limits, (error) => response.destroy(error));
  try {
    const body = await buffer(response);
    return { worker, status: response.statusCode ?? 0, headers: response.headers, body };
  } catch (cause) {
    throw cause instanceof AgentError ? cause : brokeOff(worker, cause);
  } finally {
    answered();
  }
}

/** Calls `end` once the worker has not answered in time, or is silent; returns what stops that. */
function watched(worker: WorkerView, limits: CallLimits, end: (error: AgentError) => void): () => void {
  const timer = setTimeout(() => end(late(worker, limits)), limits.limit);
  const looks = setInterval(() => {
    if (limits.isSilent?.() === true) end(fellSilent(worker));
  }, LOOK);
  return () => {
    clearTimeout(timer);
    clearInterval(looks);
  };
}

function copied(headers: WorkerRequest["headers"]): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, typeof value === "string" ? value : [...value]]),
  );
}

function late(worker: WorkerView, { limit }: CallLimits): AgentError {
  const message = `asking ${nameOf(worker)}, which has not answered within ${limit / 1000} seconds`;
  return new AgentError("WORKER_LATE", message, { retryable: false });
}

function fellSilent(worker: WorkerView): AgentError {
  const message = `asking ${nameOf(worker)}, which has fallen silent: it may still do it when it goes on`;
  return new AgentError("WORKER_SILENT", message, { retryable: false });
}

function brokeOff(worker: WorkerView, cause: unknown): AgentError {
  const message = `asking ${nameOf(worker)}, which ended the connection`;
  return new AgentError("WORKER_BROKE_OFF", message, { cause, retryable: false });
}

function unreachable(worker: WorkerView, cause: unknown): AgentError {
  const message = `asking ${nameOf(worker)}, which does not listen`;
  return new AgentError("WORKER_UNREACHABLE", message, { cause, retryable: true });
}
