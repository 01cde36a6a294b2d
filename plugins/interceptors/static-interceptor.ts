import type { Interceptor } from "deneb/sdk";
import type { StaticConfig } from "./config.js";
import { withHeader } from "./with-header.js";

/** Writes a fixed text into a header. */
export function createStaticInterceptor({ key, value, preserveExisting }: StaticConfig): Interceptor {
  const header = { name: key.toLowerCase(), text: value, preserve: preserveExisting };
  return { intercept: (event) => withHeader(event, header) };
}
