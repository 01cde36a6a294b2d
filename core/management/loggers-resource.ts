import type { Router } from "express";
import type { LoggerItem, LoggingTargets } from "../logging/definitions.js";
import { isLogLevel } from "../logging/definitions.js";
import { Refusal, textOf } from "./log-request.js";
import { type LogMessages, logRouter } from "./log-resource.js";
import { asObject } from "./request-text.js";

/** `Appender` for a logger that was updated is how it is documented. */
const messages: LogMessages = {
  none: "No log4j loggers found",
  unknown: "logger name not found",
  updated: (name) => `Appender ${name} updated successfully`,
  put: (name) => `Logger ${name} put`,
  notAdded: "Loggers addition is not implemented",
  posted: (name) => `Logger ${name} posted`,
  exists: (name) => `Logger ${name} already exist`,
  unknownToRemove: "Logger name not found",
  removed: (name) => `Logger ${name} removed successfully`,
  allRemoved: "Loggers removed successfully",
};

const invalidLevel = "Invalid logging level";

/** `/v1/admin/log/loggers`: the levels of the components, in the running agent or in the logging file. */
export function loggersResource({ running, file }: LoggingTargets): Router {
  return logRouter({
    path: "/v1/admin/log/loggers",
    messages,
    running: running.loggers,
    file: file.loggers,
    read: loggerOf,
    complete: () => true,
    showAll: (loggers) => ({ loggers }),
    showOne: ({ name }) => ({ logger: [{ name }] }),
  });
}

function loggerOf(input: Readonly<Record<string, unknown>>): LoggerItem {
  const { name: givenName, level: givenLevel } = asObject(input["logger"]) ?? {};
  const name = textOf(givenName);
  const level = textOf(givenLevel);
  if (!isLogLevel(level)) throw new Refusal(invalidLevel);
  return { name, level };
}
