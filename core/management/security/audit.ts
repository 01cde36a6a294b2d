import type { RequestHandler } from "express";
import type { Logger } from "../../sdk/index.js";
import { parameterOf } from "../request-text.js";
import { isChanging } from "./changing-calls.js";

/** The parameters of the interface; others may be anything, secrets included, and are not logged. */
const shownParameters = [
  ...["name", "transient", "ngsi_version", "subscription_id", "reset"],
  ...["sink", "service", "entity", "reason", "since", "all", "dry_run"],
] as const;

/** Writes one line for each call that changes something, refused ones included: who, what, and how it ended. */
export function audit(log: Logger): RequestHandler {
  return (request, response, next) => {
    if (isChanging(request)) {
      const { method, path } = request;
      const address = request.socket.remoteAddress;
      const parameters = Object.fromEntries(shownParameters.map((name) => [name, parameterOf(request, name)]));
      response.once("close", () => {
        const role: unknown = response.locals["role"];
        const correlator = response.get("fiware-correlator");
        const ended = response.writableFinished ? { status: response.statusCode } : { status: "abandoned" };
        log.info({ method, path, parameters, ...ended, role, address, correlator }, "management call");
      });
    }
    next();
  };
}
