import { readFile } from "node:fs/promises";
import type { ConnectionOptions } from "@platformatic/kafka";
import { readTlsFiles } from "deneb/sdk";
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
  const files = {
    tls_ca_file: config.ssl_ca_file,
    tls_cert_file: config.ssl_cert_file,
    tls_key_file: config.ssl_key_file,
    tls_verify: config.ssl_verify,
  };
  const spelt = (property: string) => property.replace("tls_", "ssl_");
  return await readTlsFiles(files, component, (file) => readFile(file), spelt);
}
