import type { ConfigOf, PropertyFault, Schema } from "deneb/sdk";

/** How to reach a Kafka cluster, in the words of its own clients. */
export const connectionProperties = {
  bootstrap_servers: {
    doc: "Brokers to connect to first, host:port, separated by blanks or commas; they name the others.",
    format: "words",
  },
  security_protocol: {
    doc: "PLAINTEXT or SSL; with SASL_ in front of it the client also authenticates with a user name.",
    format: ["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"],
    default: "PLAINTEXT",
  },
  sasl_mechanism: {
    doc: "How the user name is authenticated, with a security_protocol that begins with SASL_.",
    format: ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"],
    default: "SCRAM-SHA-512",
  },
  sasl_username: {
    doc: "User at the brokers; empty for none.",
    format: "text",
    default: "",
    env: "AGENT_KAFKA_USER",
    envFile: "AGENT_KAFKA_USER_FILE",
  },
  sasl_password: {
    doc: "Password of the user.",
    format: "text",
    default: "",
    sensitive: true,
    env: "AGENT_KAFKA_PASS",
    envFile: "AGENT_KAFKA_PASS_FILE",
  },
  ssl_ca_file: {
    doc: "File with the certificates of the authorities to trust, PEM; empty for those of Node.",
    format: "text",
    default: "",
  },
  ssl_cert_file: { doc: "File with the certificate of this client, PEM; empty for none.", format: "text", default: "" },
  ssl_key_file: { doc: "File with the key of that certificate, PEM; empty for none.", format: "text", default: "" },
  ssl_verify: {
    doc: "false: any certificate of the brokers is accepted. Only for tests.",
    format: "flag",
    default: true,
  },
  client_id: { doc: "Name of this client in the logs and quotas of the brokers.", format: "text", default: "deneb" },
  request_timeout: {
    doc: "Milliseconds within which the brokers must have done what is asked of them, with all attempts together.",
    format: "millis",
    default: 30_000,
    min: 100,
  },
} as const satisfies Schema;

export type ConnectionConfig = ConfigOf<typeof connectionProperties>;

type Fault = PropertyFault<typeof connectionProperties>;

export function checkConnection(config: ConnectionConfig): readonly Fault[] {
  return [...bootstrapFaults(config), ...saslFaults(config), ...sslFaults(config)];
}

/** Where a server is: `host:port`, `[::1]:9092` too. Undefined for anything else. */
export function addressOf(text: string): { readonly host: string; readonly port: number } | undefined {
  const [, v6, name, digits] = /^(?:\[([\da-fA-F:.]+)\]|([^\s:/@[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const [host, port] = [v6 ?? name, Number(digits)];
  return host === undefined || port < 1 || port > 65_535 ? undefined : { host, port };
}

function bootstrapFaults({ bootstrap_servers: servers }: ConnectionConfig): readonly Fault[] {
  const property = "bootstrap_servers" as const;
  if (servers.length === 0) return [{ property, reason: "must name a broker" }];
  return servers
    .filter((server) => addressOf(server) === undefined)
    .map((server) => ({ property, reason: `must be host:port, separated by blanks or commas, not "${server}"` }));
}

function saslFaults({ security_protocol, sasl_username, sasl_password }: ConnectionConfig): readonly Fault[] {
  if (security_protocol.startsWith("SASL_")) {
    return sasl_username === ""
      ? [{ property: "sasl_username", reason: `must be given with security_protocol = ${security_protocol}` }]
      : [];
  }
  const reason = `is of no use with security_protocol = ${security_protocol}; SASL_${security_protocol} authenticates`;
  return [
    ...(sasl_username === "" ? [] : [{ property: "sasl_username", reason } as const]),
    ...(sasl_password === "" ? [] : [{ property: "sasl_password", reason } as const]),
  ];
}

function sslFaults(config: ConnectionConfig): readonly Fault[] {
  const { security_protocol: protocol, ssl_cert_file: cert, ssl_key_file: key } = config;
  const files = ["ssl_ca_file", "ssl_cert_file", "ssl_key_file"] as const;
  if (!protocol.endsWith("SSL")) {
    const reason = `is of no use with security_protocol = ${protocol}`;
    return files.filter((property) => config[property] !== "").map((property) => ({ property, reason }));
  }
  if ((cert === "") === (key === "")) return [];
  return cert === ""
    ? [{ property: "ssl_cert_file", reason: "must be given with ssl_key_file" }]
    : [{ property: "ssl_key_file", reason: "must be given with ssl_cert_file" }];
}
