import { type HeaderFields, serviceOf, servicePathsOf } from "deneb/ngsi";
import type { Sender } from "deneb/sdk";
import { type HandlerConfig, PATH_LENGTH, SERVICE_LENGTH } from "./config.js";

/** The sender according to the headers alone; undefined when the service is not acceptable. */
export function senderOf(headers: HeaderFields, config: HandlerConfig): Sender | undefined {
  const service = serviceOf(headers, config.default_service);
  if (service.length > SERVICE_LENGTH) return undefined;
  const paths = config.ngsi_version === "ld" ? [] : servicePathsOf(headers, config.default_service_path);
  const [path = "/"] = paths;
  return { service, servicePath: path.startsWith("/") && path.length <= PATH_LENGTH ? path : "/" };
}
