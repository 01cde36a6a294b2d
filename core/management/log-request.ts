import type { Request, RequestHandler, Response } from "express";
import { codeOf, reasonOf } from "../sdk/index.js";
import { fail } from "./envelope.js";
import { bodyOf, objectOf, parameterOf } from "./request-text.js";

/** Answers that appenders and loggers have in common, word for word. */
export const logMessages = {
  invalidTransient: "Invalid transient parameter",
  missingBody: "Missing input JSON",
  invalidBody: "Invalid input JSON",
  notPosted: "POST appenders in transient mode is not implemented",
} as const;

/** Which of both an operation acts upon: the running agent, or the logging file. */
export type LogMode = "running" | "file";

/** What an operation is refused for; the message is answered in `result`. */
export class Refusal extends Error {}

/** Runs an operation of the log resources; what it throws as a refusal is answered with 400. */
export function logOperation(operate: (request: Request, response: Response) => Promise<void>): RequestHandler {
  return async (request, response) => {
    try {
      await operate(request, response);
    } catch (error) {
      if (error instanceof Refusal) fail(response, 400, { result: error.message });
      else if (codeOf(error) === "LOGGING_FILE_NOT_VALID") fail(response, 409, { result: reasonOf(error) });
      else throw error;
    }
  };
}

/** The parameter `transient`: the running agent unless it says otherwise. */
export function modeOf(request: Request): LogMode {
  const transient = parameterOf(request, "transient") ?? "true";
  if (transient === "true") return "running";
  if (transient === "false") return "file";
  throw new Refusal(logMessages.invalidTransient);
}

/** The JSON object of a PUT or POST. */
export function inputOf(request: Request): Readonly<Record<string, unknown>> {
  if (bodyOf(request) === "") throw new Refusal(logMessages.missingBody);
  const input = objectOf(request);
  if (input === undefined) throw invalidBody();
  return input;
}

/** A member that must be a text with at least one character. */
export function textOf(value: unknown): string {
  if (typeof value === "string" && value !== "") return value;
  throw invalidBody();
}

export function invalidBody(): Refusal {
  return new Refusal(logMessages.invalidBody);
}
