import { type RequestHandler, Router } from "express";
import { parseLogLevel, type RunningLoggerTarget } from "../../logging/definitions.js";
import { ROOT_LOGGER } from "../../logging/loggers.js";
import { badRequest, sendJson } from "../answers.js";
import { answer, failure, operation, queryParameter, type Resource, record, text } from "../openapi.js";
import { parameterOf } from "../requests.js";

/**
 * `/admin/log`: the level of the root logger in the running agent. Its answers are those of the predecessor: reading
 * has no `success`, and the `success` of a change is a sentence.
 */
export function rootLevelResource(loggers: RunningLoggerTarget): Resource {
  const read: RequestHandler = (_request, response) => sendJson(response, 200, { level: loggers.rootLevel });
  const change: RequestHandler = async (request, response) => {
    const given = (parameterOf(request, "level") ?? "").trim();
    const level = /^warning$/i.test(given) ? "WARN" : parseLogLevel(given);
    if (level === undefined) throw badRequest("Invalid log level");
    await loggers.put({ name: ROOT_LOGGER, level });
    sendJson(response, 200, { success: `log4j logging level updated to ${level}` });
  };
  const router = Router({ caseSensitive: true });
  router.get(paths, read);
  router.put(paths, change);
  return { router, paths: Object.fromEntries(paths.map((path) => [path, { get, put }])), schemas: {} };
}

const paths = ["/admin/log", "/v1/admin/log"];

const get = operation({
  summary: "Level of the root logger in the running agent.",
  responses: { "200": answer("The level, without the envelope.", record({ level: text })) },
});

const put = operation({
  summary: "Sets the level of the root logger in the running agent.",
  parameters: [queryParameter("level", "A level, in upper or lower case.", text, true)],
  responses: {
    "200": answer("The level is set; success is a sentence.", record({ success: text })),
    "400": failure("The level is missing or unknown."),
  },
});
