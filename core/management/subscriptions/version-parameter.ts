import type { Request } from "express";
import { badRequest } from "../refused-call.js";
import { parameterOf } from "../request-text.js";
import type { BrokerApi } from "./broker-api.js";
import { brokerApis } from "./broker-apis.js";
import { invalidVersion, parameterError } from "./messages.js";

/** The API that ngsi_version names, as POST and DELETE ask for it; `end` closes the message about an unknown one. */
export function requiredVersion(request: Request, end = ""): BrokerApi {
  const version = requiredParameter(request, "ngsi_version");
  return versionOf(version, end);
}

/** GET tells a missing parameter from an empty one. */
export function versionToRead(request: Request): BrokerApi {
  const version = parameterOf(request, "ngsi_version");
  if (version === undefined) throw parameterError("missing", "ngsi_version");
  if (version === "") throw parameterError("empty", "ngsi_version");
  return versionOf(version, "");
}

export function requiredParameter(request: Request, name: string): string {
  const value = parameterOf(request, name);
  if (value === undefined || value === "") throw parameterError("wrong", name);
  return value;
}

function versionOf(version: string, end: string): BrokerApi {
  const api = brokerApis.get(version);
  if (api === undefined) throw badRequest(`${invalidVersion}${end}`);
  return api;
}
