import type { Router } from "express";
import type { AppenderChange, LoggingTargets } from "../logging/definitions.js";
import { textOf } from "./log-request.js";
import { type LogMessages, logRouter } from "./log-resource.js";
import { asObject } from "./request-text.js";

const messages: LogMessages = {
  none: "No log4j appenders found",
  unknown: "Appender name not found",
  updated: (name) => `Appender ${name} updated succesfully`,
  put: (name) => `Appender ${name} put.`,
  notAdded: "Appenders addition is not implemented",
  posted: (name) => `Appender ${name} posted.`,
  exists: (name) => `Appender ${name} already exist`,
  unknownToRemove: "Appender name not found",
  removed: (name) => `Appender ${name} removed successfully`,
  allRemoved: "Appenders removed successfully",
};

/** `/v1/admin/log/appenders`: where log lines go and how they look, in the running agent or in the logging file. */
export function appendersResource({ running, file }: LoggingTargets): Router {
  return logRouter({
    path: "/v1/admin/log/appenders",
    messages,
    running: running.appenders,
    file: file.appenders,
    read: changeOf,
    complete: (change) => change.class !== undefined && change.layout !== undefined,
    showAll: (appenders) => ({ appenders }),
    showOne: (appender) => ({ appender: [appender] }),
  });
}

function changeOf(input: Readonly<Record<string, unknown>>): AppenderChange {
  const { name, class: className } = asObject(input["appender"]) ?? {};
  const { layout, ConversionPattern: pattern } = asObject(input["pattern"]) ?? {};
  return {
    name: textOf(name),
    conversionPattern: textOf(pattern),
    ...(className === undefined ? {} : { class: textOf(className) }),
    ...(layout === undefined ? {} : { layout: textOf(layout) }),
  };
}
