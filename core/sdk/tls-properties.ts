import { AgentError, codeOf } from "./errors.js";
import type { ConfigOf, Schema } from "./schema.js";

/** The TLS properties of plugins that connect to a server, to be spread into their schema. */
export const tlsProperties = {
  tls_ca_file: {
    doc: "File with the certificates of the authorities to trust, PEM; empty for those of Node.",
    format: "text",
    default: "",
  },
  tls_cert_file: { doc: "File with the certificate of this client, PEM; empty for none.", format: "text", default: "" },
  tls_key_file: { doc: "File with the key of that certificate, PEM; empty for none.", format: "text", default: "" },
  tls_verify: {
    doc: "false: any certificate of the server is accepted. Only for tests.",
    format: "flag",
    default: true,
  },
} as const satisfies Schema;

/** The values of the TLS properties. */
export type TlsConfig = ConfigOf<typeof tlsProperties>;

/** Faults of the TLS properties: certificate and key are given together. */
export function checkTls({ tls_cert_file: cert, tls_key_file: key }: TlsConfig) {
  if ((cert === "") === (key === "")) return [];
  return cert === ""
    ? [{ property: "tls_cert_file", reason: "must be given with tls_key_file" } as const]
    : [{ property: "tls_key_file", reason: "must be given with tls_cert_file" } as const];
}

/** The options that `node:tls` and the clients over it take. */
export interface TlsClientOptions<Content> {
  readonly ca?: Content;
  readonly cert?: Content;
  readonly key?: Content;
  readonly rejectUnauthorized: boolean;
}

/**
 * Reads the files of the TLS properties with `read`, usually `readFile` of `node:fs/promises`. `component` is the name
 * and kind for messages, such as `sink "http-sink"`. Rejects with code `CERTIFICATE_UNREADABLE`.
 */
export async function readTlsFiles<Content>(
  config: TlsConfig,
  component: string,
  read: (file: string) => Promise<Content>,
): Promise<TlsClientOptions<Content>> {
  const contents = async (property: "tls_ca_file" | "tls_cert_file" | "tls_key_file") => {
    const file = config[property];
    if (file === "") return undefined;
    try {
      return await read(file);
    } catch (cause) {
      const reason = `reading the file "${file}" of its property "${property}" (${codeOf(cause)})`;
      throw new AgentError("CERTIFICATE_UNREADABLE", `starting ${component}: ${reason}`, { cause, retryable: false });
    }
  };
  const [ca, cert, key] = [
    await contents("tls_ca_file"),
    await contents("tls_cert_file"),
    await contents("tls_key_file"),
  ];
  return {
    rejectUnauthorized: config.tls_verify,
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  };
}
