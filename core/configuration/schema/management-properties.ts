import type { Schema } from "../../sdk/index.js";

/** Settings of the management interface beyond its address: who may call it, and what it may call. */
export const managementProperties = {
  managementReadTokens: {
    doc: "Bearer tokens that may read over the management interface, separated by blanks or commas.",
    format: "words",
    default: [],
    env: "DENEB_MANAGEMENT_READ_TOKENS",
    sensitive: true,
  },
  managementReadTokensFile: {
    doc: "File with more tokens that may read, one a line.",
    format: "text",
    default: "",
    env: "DENEB_MANAGEMENT_READ_TOKENS_FILE",
  },
  managementAdminTokens: {
    doc: "Bearer tokens that may do everything over the management interface, separated by blanks or commas. Without any token of either kind everybody who reaches it may.",
    format: "words",
    default: [],
    env: "DENEB_MANAGEMENT_ADMIN_TOKENS",
    sensitive: true,
  },
  managementAdminTokensFile: {
    doc: "File with more tokens that may do everything, one a line.",
    format: "text",
    default: "",
    env: "DENEB_MANAGEMENT_ADMIN_TOKENS_FILE",
  },
  managementHosts: {
    doc: "Names under which the management interface may be called (header Host), as host, *.domain or *. Those of loopback, the address it is bound to and the address of the connection always may.",
    format: "words",
    default: [],
    env: "DENEB_MANAGEMENT_HOSTS",
  },
  managementTlsKey: {
    doc: "PEM file with the private key of the management interface; with a certificate it speaks HTTPS only.",
    format: "text",
    default: "",
    env: "DENEB_MANAGEMENT_TLS_KEY",
  },
  managementTlsCertificate: {
    doc: "PEM file with the certificate of the management interface, and those between it and its CA.",
    format: "text",
    default: "",
    env: "DENEB_MANAGEMENT_TLS_CERTIFICATE",
  },
  managementTlsClientCa: {
    doc: "PEM file with the CAs of clients; then only clients with a certificate of one of them are served.",
    format: "text",
    default: "",
    env: "DENEB_MANAGEMENT_TLS_CLIENT_CA",
  },
  managementBodyLimit: {
    doc: "Largest body of a management request, in bytes; a larger one is answered 413.",
    format: "count",
    default: 1_048_576,
    min: 1,
    env: "DENEB_MANAGEMENT_BODY_LIMIT",
  },
  brokerTargets: {
    doc: "Brokers that subscription calls may reach, as host, host:port, *.domain or *. When empty: none.",
    format: "words",
    default: [],
    env: "DENEB_BROKER_TARGETS",
  },
  brokerTimeout: {
    doc: "Seconds within which a broker must have answered a call.",
    format: "seconds",
    default: 10,
    min: 1,
    env: "DENEB_BROKER_TIMEOUT",
  },
  brokerVerifyTls: {
    doc: "Whether the certificate of a broker that is called over TLS must be valid.",
    format: "flag",
    default: true,
    env: "DENEB_BROKER_VERIFY_TLS",
  },
  stallThreshold: {
    doc: "Seconds a sink may go without storing anything while its channel holds events, before GET /ready is red. The batch_timeout of a sink with a batch_size above 1 is added.",
    format: "seconds",
    default: 60,
    min: 1,
    env: "DENEB_STALL_THRESHOLD",
  },
  metricsServices: {
    doc: "Most pairs of service and sub-service that are counted by themselves; those beyond are counted together as (other).",
    format: "count",
    default: 1000,
    min: 1,
    env: "DENEB_METRICS_SERVICES",
  },
} as const satisfies Schema;

/** The command line option of each of them; tokens have none, because other users see command lines. */
export const managementOptions = {
  managementReadTokensFile: "--management-read-tokens-file",
  managementAdminTokensFile: "--management-admin-tokens-file",
  managementHosts: "--management-hosts",
  managementTlsKey: "--management-tls-key",
  managementTlsCertificate: "--management-tls-certificate",
  managementTlsClientCa: "--management-tls-client-ca",
  managementBodyLimit: "--management-body-limit",
  brokerTargets: "--broker-targets",
  brokerTimeout: "--broker-timeout",
  brokerVerifyTls: "--broker-verify-tls",
  stallThreshold: "--stall-threshold",
  metricsServices: "--metrics-services",
} as const;
