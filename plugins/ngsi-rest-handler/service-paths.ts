import { type Entity, type HeaderFields, servicePathsOf } from "deneb/ngsi";
import { PATH_LENGTH } from "./config.js";
import { refused } from "./refused.js";

/** NGSI-LD has no service path. */
const LD_PATH = "/";

/** The service path of each entity: the only one of the request, or the one at the same index. */
export function servicePathsFor(
  entities: readonly Entity[],
  headers: HeaderFields,
  defaultPath: string,
): readonly string[] {
  if (!entities.some(({ api }) => api === "v2")) return entities.map(() => LD_PATH);
  const paths = servicePathsOf(headers, defaultPath);
  for (const path of paths) checkPath(path);
  const [only = defaultPath, ...others] = paths;
  if (others.length === 0) return entities.map(() => only);
  if (paths.length === entities.length) return paths;
  throw refused(
    "service-path",
    "'fiware-servicepath' header value does not match the number of notified context responses",
  );
}

function checkPath(path: string): void {
  if (path.length > PATH_LENGTH) {
    throw refused("service-path", `'fiware-servicepath' header length greater than ${PATH_LENGTH} for ${path}`);
  }
  if (!path.startsWith("/"))
    throw refused("service-path", `'fiware-servicepath' header value ${path} must start with '/'`);
}
