import { type Request, type RequestHandler, type Response, Router } from "express";
import type { LogFileTarget, LogTarget } from "../../logging/definitions.js";
import { codeOf, reasonOf } from "../../sdk/index.js";
import { fail, HttpError, succeed } from "../answers.js";
import { bodyOf, objectOf, parameterOf, unknownParameter } from "../requests.js";

interface Named {
  readonly name: string;
}

/** The documented answers that differ between appenders and loggers. */
export interface LogMessages {
  readonly none: string;
  readonly unknown: string;
  readonly updated: (name: string) => string;
  readonly put: (name: string) => string;
  readonly notAdded: string;
  readonly posted: (name: string) => string;
  readonly exists: (name: string) => string;
  readonly unknownToRemove: string;
  readonly removed: (name: string) => string;
  readonly allRemoved: string;
}

/** Appenders or loggers: their path, answers and targets, and how a body describes one. */
interface LogResource<Item extends Named, Change extends Named> {
  readonly path: string;
  readonly messages: LogMessages;
  readonly running: LogTarget<Item, Change>;
  readonly file: LogFileTarget<Item, Change>;
  /** Throws for an invalid body. */
  readonly read: (input: Readonly<Record<string, unknown>>) => Change;
  /** Whether it has all members that the logging file needs. */
  readonly complete: (change: Change) => boolean;
  readonly showAll: (items: readonly Item[]) => object;
  readonly showOne: (item: Item) => object;
}

/** The operations that appenders and loggers have in common. The body is checked before `transient`. */
export function logRouter<Item extends Named, Change extends Named>(resource: LogResource<Item, Change>): Router {
  const router = Router({ caseSensitive: true });
  const operation = (operate: Operation<Item, Change>) =>
    logOperation((request, response) => operate(resource, request, response));
  router.get(resource.path, operation(get));
  router.put(resource.path, operation(put));
  router.post(resource.path, operation(post));
  router.delete(resource.path, operation(remove));
  return router;
}

type Operation<Item extends Named, Change extends Named> = (
  resource: LogResource<Item, Change>,
  request: Request,
  response: Response,
) => Promise<void>;

async function get<Item extends Named, Change extends Named>(
  resource: LogResource<Item, Change>,
  request: Request,
  response: Response,
): Promise<void> {
  const items = await resource[modeOf(request)].list();
  const name = parameterOf(request, "name");
  if (name === undefined && items.length === 0) throw invalidCall(resource.messages.none);
  if (name === undefined) return succeed(response, resource.showAll(items));
  const item = items.find((candidate) => candidate.name === name);
  if (item === undefined) throw invalidCall(resource.messages.unknown);
  succeed(response, resource.showOne(item));
}

async function put<Item extends Named, Change extends Named>(
  { messages, read, complete, ...targets }: LogResource<Item, Change>,
  request: Request,
  response: Response,
): Promise<void> {
  const change = read(inputOf(request));
  const mode = modeOf(request);
  if (mode === "file" && !complete(change)) throw invalidBody();
  const result = await targets[mode].put(change);
  if (result === "absent") throw invalidCall(messages.notAdded);
  succeed(response, { result: result === "added" ? messages.put(change.name) : messages.updated(change.name) });
}

async function post<Item extends Named, Change extends Named>(
  { messages, read, complete, file }: LogResource<Item, Change>,
  request: Request,
  response: Response,
): Promise<void> {
  const change = read(inputOf(request));
  if (modeOf(request) === "running") throw invalidCall(logMessages.notPosted);
  if (!complete(change)) throw invalidBody();
  if (!(await file.add(change))) throw invalidCall(messages.exists(change.name));
  succeed(response, { result: messages.posted(change.name) });
}

async function remove<Item extends Named, Change extends Named>(
  { messages, ...targets }: LogResource<Item, Change>,
  request: Request,
  response: Response,
): Promise<void> {
  const target = targets[modeOf(request)];
  // With a misspelt name all would be removed.
  const fault = unknownParameter(request, parametersOfRemove);
  if (fault !== undefined) throw invalidCall(fault);
  const name = parameterOf(request, "name");
  if (name === undefined) {
    await target.removeAll();
    return succeed(response, { result: messages.allRemoved });
  }
  if (!(await target.remove(name))) throw invalidCall(messages.unknownToRemove);
  succeed(response, { result: messages.removed(name) });
}

const parametersOfRemove = new Set(["name", "transient"]);

/** The documented answers that appenders and loggers have in common. */
const logMessages = {
  invalidTransient: "Invalid transient parameter",
  missingBody: "Missing input JSON",
  invalidBody: "Invalid input JSON",
  notPosted: "POST appenders in transient mode is not implemented",
} as const;

/** The target of an operation: the running agent, or the logging file. */
type LogMode = "running" | "file";

/** A call that is answered with status 400 and the message in `result`. */
export function invalidCall(message: string): HttpError {
  return new HttpError(400, { result: message });
}

/** Runs an operation of the log resources; a logging file that is invalid, or cannot be read or written, is answered with 409. */
function logOperation(operate: (request: Request, response: Response) => Promise<void>): RequestHandler {
  return async (request, response) => {
    try {
      await operate(request, response);
    } catch (error) {
      if (!fileFaults.has(codeOf(error) ?? "")) throw error;
      fail(response, 409, { result: reasonOf(error) });
    }
  };
}

const fileFaults: ReadonlySet<string> = new Set(["LOGGING_FILE_NOT_VALID", "FILE_NOT_READ", "FILE_NOT_WRITTEN"]);

/** The parameter `transient`: the running agent by default. */
function modeOf(request: Request): LogMode {
  const transient = parameterOf(request, "transient") ?? "true";
  if (transient === "true") return "running";
  if (transient === "false") return "file";
  throw invalidCall(logMessages.invalidTransient);
}

/** The JSON object of a PUT or POST. */
function inputOf(request: Request): Readonly<Record<string, unknown>> {
  if (bodyOf(request) === "") throw invalidCall(logMessages.missingBody);
  const input = objectOf(request);
  if (input === undefined) throw invalidBody();
  return input;
}

/** A member that must be a text that is not empty. */
export function textOf(value: unknown): string {
  if (typeof value === "string" && value !== "") return value;
  throw invalidBody();
}

export function invalidBody(): HttpError {
  return invalidCall(logMessages.invalidBody);
}
