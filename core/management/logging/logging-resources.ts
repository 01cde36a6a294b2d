import {
  type AppenderChange,
  isAppender,
  isLogLevel,
  type LoggerItem,
  type LoggingTargets,
} from "../../logging/definitions.js";
import {
  answer,
  failure,
  listOf,
  operation,
  type Paths,
  queryParameter,
  type Resource,
  record,
  schemaRef,
  success,
  text,
} from "../openapi.js";
import { asObject } from "../requests.js";
import { invalidBody, invalidCall, type LogMessages, logRouter, textOf } from "./logging-operations.js";

const appenderMessages: LogMessages = {
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

/** `/v1/admin/log/appenders`: the output and layout of log lines, in the running agent or in the logging file. */
export function appendersResource({ running, file }: LoggingTargets): Resource {
  const router = logRouter({
    path: pathOf("appender"),
    messages: appenderMessages,
    running: running.appenders,
    file: file.appenders,
    read: appenderIn,
    complete: (change) => change.class !== undefined && change.layout !== undefined,
    showAll: (appenders) => ({ appenders }),
    showOne: (appender) => ({ appender: [appender] }),
  });
  return { router, paths: pathsOf("appender"), schemas: appenderSchemas };
}

function appenderIn(input: Readonly<Record<string, unknown>>): AppenderChange {
  const { name, class: className } = asObject(input["appender"]) ?? {};
  const { layout, ConversionPattern: pattern } = asObject(input["pattern"]) ?? {};
  const named = { name: textOf(name), conversionPattern: textOf(pattern) };
  if (!isAppender(named)) throw invalidBody();
  return {
    ...named,
    ...(className === undefined ? {} : { class: textOf(className) }),
    ...(layout === undefined ? {} : { layout: textOf(layout) }),
  };
}

const item = record({ name: text, layout: text });
const appenderSchemas = {
  Appender: record({ success, appender: listOf(item) }),
  Appenders: record({ success, appenders: listOf(item) }),
  AppenderInput: record({
    appender: record({ name: text }, { class: text }),
    pattern: record({ ConversionPattern: text }, { layout: text }),
  }),
};

/** The answer about an updated logger is documented with the word `Appender`. */
const loggerMessages: LogMessages = {
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
export function loggersResource({ running, file }: LoggingTargets): Resource {
  const router = logRouter({
    path: pathOf("logger"),
    messages: loggerMessages,
    running: running.loggers,
    file: file.loggers,
    read: loggerIn,
    complete: () => true,
    showAll: (loggers) => ({ loggers }),
    showOne: ({ name }) => ({ logger: [{ name }] }),
  });
  return { router, paths: pathsOf("logger"), schemas: loggerSchemas };
}

function loggerIn(input: Readonly<Record<string, unknown>>): LoggerItem {
  const { name: givenName, level: givenLevel } = asObject(input["logger"]) ?? {};
  const name = textOf(givenName);
  const level = textOf(givenLevel);
  if (!isLogLevel(level)) throw invalidCall(invalidLevel);
  return { name, level };
}

const loggerSchemas = {
  Logger: record({ success, logger: listOf(record({ name: text })) }),
  Loggers: record({ success, loggers: listOf(record({ name: text, level: text })) }),
  LoggerInput: record({ logger: record({ name: text, level: text }) }),
};

type Kind = "appender" | "logger";

function pathOf(kind: Kind): string {
  return `/v1/admin/log/${kind}s`;
}

function pathsOf(kind: Kind): Paths {
  const name = queryParameter("name", `Without it the call concerns all ${kind}s.`, text);
  const described = (summary: string, parameters: readonly object[], success: object, body: object = {}) =>
    operation({
      summary,
      parameters,
      ...body,
      responses: {
        "200": success,
        "400": failure("The call is invalid; result gives the reason."),
        "409": invalidFile,
      },
    });
  const schema = kind === "appender" ? "Appender" : "Logger";
  const requestBody = { required: true, content: { "application/json": { schema: schemaRef(`${schema}Input`) } } };
  const done = answer("The change is made.", schemaRef("Result"));
  const found = answer(`The ${kind}, or all of them.`, { anyOf: [schemaRef(schema), schemaRef(`${schema}s`)] });
  return {
    [pathOf(kind)]: {
      get: described(`Shows one ${kind} or all.`, [name, transient], found),
      put: described(`Changes a ${kind}, or adds it to the file.`, [transient], done, { requestBody }),
      post: described(`Adds a ${kind} to the file; only with transient=false.`, [transient], done, { requestBody }),
      delete: described(`Removes one ${kind} or all.`, [name, transient], done),
    },
  };
}

const transient = queryParameter("transient", "true (the default) for the running agent, false for the logging file.", {
  enum: ["true", "false"],
});

const invalidFile = failure("The logging file is not valid, or cannot be read or written; repair or remove it.");
