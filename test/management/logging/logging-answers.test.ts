import assert from "node:assert/strict";
import { test } from "node:test";
import { refused, startManagement } from "../../support/management.js";

const appenders = "/v1/admin/log/appenders";
const loggers = "/v1/admin/log/loggers";
const pattern = { layout: "org.apache.log4j.PatternLayout", ConversionPattern: "%m%n" };
const appender = (name: string) => ({ appender: { name, class: "org.apache.log4j.ConsoleAppender" }, pattern });
const logger = (name: string, level = "DEBUG") => ({ logger: { name, level } });

const longPattern = "%d{".repeat(5000);

/** Each on an agent that was just started, without a logging file. */
const cases = [
  ["GET", `${appenders}?transient=x`, undefined, "Invalid transient parameter"],
  ["GET", `${loggers}?transient=x`, undefined, "Invalid transient parameter"],
  ["GET", `${loggers}?transient=`, undefined, "Invalid transient parameter"],
  ["GET", `${loggers}?transient=TRUE`, undefined, "Invalid transient parameter"],
  ["PUT", `${appenders}?transient=x`, appender("console"), "Invalid transient parameter"],
  ["PUT", `${loggers}?transient=x`, logger("root"), "Invalid transient parameter"],
  ["POST", `${appenders}?transient=x`, appender("a"), "Invalid transient parameter"],
  ["POST", `${loggers}?transient=x`, logger("a"), "Invalid transient parameter"],
  ["DELETE", `${appenders}?transient=x`, undefined, "Invalid transient parameter"],
  ["DELETE", `${loggers}?transient=x`, undefined, "Invalid transient parameter"],
  ["GET", `${appenders}?name=none`, undefined, "Appender name not found"],
  ["GET", `${appenders}?name=`, undefined, "Appender name not found"],
  ["GET", `${appenders}?name=none&transient=false`, undefined, "Appender name not found"],
  ["GET", `${loggers}?name=none`, undefined, "logger name not found"],
  ["GET", `${loggers}?name=none&transient=false`, undefined, "logger name not found"],
  ["GET", `${appenders}?transient=false`, undefined, "No log4j appenders found"],
  ["GET", `${loggers}?transient=false`, undefined, "No log4j loggers found"],
  ["PUT", appenders, undefined, "Missing input JSON"],
  ["PUT", loggers, undefined, "Missing input JSON"],
  ["PUT", `${loggers}?transient=x`, undefined, "Missing input JSON"],
  ["POST", appenders, undefined, "Missing input JSON"],
  ["POST", `${loggers}?transient=false`, undefined, "Missing input JSON"],
  ["PUT", appenders, "{", "Invalid input JSON"],
  ["PUT", loggers, " ", "Invalid input JSON"],
  ["PUT", loggers, "null", "Invalid input JSON"],
  ["PUT", loggers, "[]", "Invalid input JSON"],
  ["PUT", loggers, { logger: "x" }, "Invalid input JSON"],
  ["PUT", loggers, { logger: { name: "root" } }, "Invalid input JSON"],
  ["PUT", loggers, { logger: { name: 1, level: "INFO" } }, "Invalid input JSON"],
  ["POST", `${loggers}?transient=false`, { logger: { level: "INFO" } }, "Invalid input JSON"],
  ["PUT", appenders, { appender: { name: "console" } }, "Invalid input JSON"],
  ["PUT", appenders, { appender: { name: "" }, pattern }, "Invalid input JSON"],
  [
    "POST",
    `${appenders}?transient=false`,
    { appender: { name: "\ud800", class: "file" }, pattern },
    "Invalid input JSON",
  ],
  [
    "PUT",
    appenders,
    { appender: { name: "console" }, pattern: { ConversionPattern: longPattern } },
    "Invalid input JSON",
  ],
  ["PUT", `${appenders}?transient=false`, { appender: { name: "a" }, pattern }, "Invalid input JSON"],
  ["POST", `${appenders}?transient=false`, { ...appender("a"), pattern: { layout: "x" } }, "Invalid input JSON"],
  ["PUT", loggers, logger("root", "debug"), "Invalid logging level"],
  ["POST", `${loggers}?transient=false`, logger("a", "TRACE"), "Invalid logging level"],
  ["PUT", appenders, appender("none"), "Appenders addition is not implemented"],
  ["PUT", loggers, logger("none"), "Loggers addition is not implemented"],
  ["POST", appenders, appender("a"), "POST appenders in transient mode is not implemented"],
  ["POST", `${loggers}?transient=true`, logger("a"), "POST appenders in transient mode is not implemented"],
  ["DELETE", `${appenders}?name=none`, undefined, "Appender name not found"],
  ["DELETE", `${appenders}?name=`, undefined, "Appender name not found"],
  ["DELETE", `${appenders}?name=none&transient=false`, undefined, "Appender name not found"],
  ["DELETE", `${loggers}?name=none`, undefined, "Logger name not found"],
  ["DELETE", `${loggers}?name=none&transient=false`, undefined, "Logger name not found"],
] as const;

for (const [method, path, body, result] of cases)
  test(`${method} ${path} with ${JSON.stringify(body)?.slice(0, 100)} is refused`, async (context) => {
    const { call } = await startManagement(context);

    assert.deepEqual(await call(method, path, body), refused({ result }));
  });
