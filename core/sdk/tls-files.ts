import { X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import { AgentError, codeOf } from "./errors.js";
import type { ConfigOf, Schema } from "./schema.js";

/** The TLS properties of plugins that connect to a server, to be spread into their schema. @stable */
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

/** The values of the TLS properties. @stable */
export type TlsConfig = ConfigOf<typeof tlsProperties>;

/** Faults of the TLS properties: certificate and key are given together. @stable */
export function checkTls({ tls_cert_file: cert, tls_key_file: key }: TlsConfig) {
  if ((cert === "") === (key === "")) return [];
  return cert === ""
    ? [{ property: "tls_cert_file", reason: "must be given with tls_key_file" } as const]
    : [{ property: "tls_key_file", reason: "must be given with tls_cert_file" } as const];
}

/** The options that `node:tls` and the clients over it take. @stable */
export interface TlsClientOptions<Content> {
  readonly ca?: Content;
  readonly cert?: Content;
  readonly key?: Content;
  readonly rejectUnauthorized: boolean;
}

/** The contents of PEM files for one end of TLS connections. @beta */
export interface PemFiles {
  /** Certificates of the authorities to trust. */
  readonly ca?: unknown;
  readonly cert?: unknown;
  readonly key?: unknown;
}

/** Which of the files cannot be used, and why, with the remedy; undefined when all of them can. @beta */
export function pemFault({ ca, cert, key }: PemFiles): PemFault | undefined {
  if (ca !== undefined && !isCertificate(ca)) return { file: "ca", reason: NO_CERTIFICATE };
  if (cert !== undefined && !isCertificate(cert)) return { file: "cert", reason: NO_CERTIFICATE };
  const reason = key === undefined ? undefined : keyFault(key, cert);
  return reason === undefined ? undefined : { file: "key", reason };
}

/** @beta */
export interface PemFault {
  readonly file: "ca" | "cert" | "key";
  readonly reason: string;
}

const NO_CERTIFICATE = "it holds no certificate in PEM (-----BEGIN CERTIFICATE-----), or a broken one";

/** OpenSSL passes over authorities that it cannot read, and takes binary forms for nothing. */
function isCertificate(content: unknown): boolean {
  const text = String(content);
  try {
    return text.includes("-----BEGIN ") && new X509Certificate(text).subject !== undefined;
  } catch {
    return false;
  }
}

function keyFault(key: unknown, cert: unknown): string | undefined {
  try {
    createSecureContext({ key: String(key), ...(cert === undefined ? {} : { cert: String(cert) }) });
    return undefined;
  } catch (error) {
    const code = codeOf(error) ?? "";
    if (code.endsWith("KEY_VALUES_MISMATCH"))
      return "it is not the key of the certificate; give those that belong together";
    return String(key).includes("ENCRYPTED")
      ? "it is encrypted with a passphrase, which cannot be given; write it without one: openssl pkey -in FILE -out NEW"
      : `it holds no key in PEM (-----BEGIN PRIVATE KEY-----), or one that cannot be used (${code})`;
  }
}

/**
 * Reads the files of the TLS properties with `read`, usually `readFile` of `node:fs/promises`. `component` is the name
 * and kind for messages, such as `sink "http-sink"`, and `spelt` gives the name of a property for them where the plugin has
 * another one. Rejects with code `CERTIFICATE_UNREADABLE` when a file cannot be read, and when what it holds is of no use.
 * @stable
 */
export async function readTlsFiles<Content>(
  config: TlsConfig,
  component: string,
  read: (file: string) => Promise<Content>,
  spelt: (property: string) => string = (property) => property,
): Promise<TlsClientOptions<Content>> {
  const failed = (property: FileProperty, reason: string, cause?: unknown) => {
    const reading = `reading the file "${config[property]}" of its property "${spelt(property)}"`;
    return new AgentError("CERTIFICATE_UNREADABLE", `starting ${component}: ${reading}${reason}`, {
      cause,
      retryable: false,
    });
  };
  const contents = async (property: FileProperty) => {
    if (config[property] === "") return undefined;
    try {
      return await read(config[property]);
    } catch (cause) {
      throw failed(property, ` (${codeOf(cause)})`, cause);
    }
  };
  const [ca, cert, key] = [
    await contents("tls_ca_file"),
    await contents("tls_cert_file"),
    await contents("tls_key_file"),
  ];
  const fault = pemFault({ ca, cert, key });
  if (fault !== undefined) throw failed(`tls_${fault.file}_file`, `: ${fault.reason}`);
  return {
    rejectUnauthorized: config.tls_verify,
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  };
}

type FileProperty = "tls_ca_file" | "tls_cert_file" | "tls_key_file";
