import { readFile } from "node:fs/promises";
import type { ConnectionOptions } from "@platformatic/kafka";
import { AgentError, codeOf } from "deneb/sdk";
import type { ConnectionConfig } from "./properties.js";

const LONGEST_CONNECT_MILLIS = 10_000;
/** The longest timer of Node: requests have time limits of their own. */
const NEVER_MILLIS = 2_147_483_647;

/** The options of every connection; reads the certificate files. Rejects with code `CERTIFICATE_UNREADABLE`. */
export async function connectionOptions(config: ConnectionConfig, component: string): Promise<ConnectionOptions> {
  const { security_protocol: protocol, sasl_mechanism, sasl_username, sasl_password, request_timeout } = config;
  return {
    connectTimeout: Math.min(LONGEST_CONNECT_MILLIS, request_timeout),
    requestTimeout: NEVER_MILLIS,
    ...(protocol.endsWith("SSL") ? { tls: await tlsOptions(config, component) } : {}),
    ...(protocol.startsWith("SASL_")
      ? { sasl: { mechanism: sasl_mechanism, username: sasl_username, password: sasl_password } }
      : {}),
  };
}

async function tlsOptions(config: ConnectionConfig, component: string) {
  const content = async (property: "ssl_ca_file" | "ssl_cert_file" | "ssl_key_file") => {
    const file = config[property];
    if (file === "") return undefined;
    try {
      return await readFile(file);
    } catch (cause) {
      const reason = `reading the file "${file}" of its property "${property}" (${codeOf(cause)})`;
      throw new AgentError("CERTIFICATE_UNREADABLE", `starting ${component}: ${reason}`, { cause, retryable: false });
    }
  };
  const [ca, cert, key] = [await content("ssl_ca_file"), await content("ssl_cert_file"), await content("ssl_key_file")];
  return {
    rejectUnauthorized: config.ssl_verify,
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  };
}
