import { type TlsWords, tlsReason } from "deneb/sdk";
import type { Library } from "./library.js";

/**
 * What a failure means: `unavailable` passes by itself, `full` when somebody makes room; `denied`, `too-large` and `settings`
 * do not. `offset`: the partition has no such offset.
 */
export type KafkaErrorKind = "unavailable" | "full" | "denied" | "too-large" | "settings" | "offset";

/** A failure of a request to Kafka, or of the connection for it. Its message holds no secret. */
export class KafkaError extends Error {
  readonly kind: KafkaErrorKind;
  /** Name of the error in the protocol, such as `NOT_LEADER_OR_FOLLOWER`; empty when it comes from the connection. */
  readonly id: string;
  /** True when what was to be written may be there, and is once when it is written again under its name. */
  readonly isUnanswered: boolean;

  constructor(kind: KafkaErrorKind, message: string, { id = "", cause, isUnanswered = false }: KafkaErrorOptions = {}) {
    super(message, { cause });
    this.name = "KafkaError";
    this.kind = kind;
    this.id = id;
    this.isUnanswered = isUnanswered;
  }
}

interface KafkaErrorOptions {
  readonly id?: string;
  readonly cause?: unknown;
  readonly isUnanswered?: boolean;
}

const kinds: Readonly<Record<string, KafkaErrorKind>> = {
  OFFSET_OUT_OF_RANGE: "offset",
  MESSAGE_TOO_LARGE: "too-large",
  RECORD_LIST_TOO_LARGE: "too-large",
  TOPIC_AUTHORIZATION_FAILED: "denied",
  CLUSTER_AUTHORIZATION_FAILED: "denied",
  GROUP_AUTHORIZATION_FAILED: "denied",
  SASL_AUTHENTICATION_FAILED: "denied",
  UNSUPPORTED_SASL_MECHANISM: "denied",
  ILLEGAL_SASL_STATE: "denied",
  SECURITY_DISABLED: "denied",
  KAFKA_STORAGE_ERROR: "full",
  INVALID_TOPIC_EXCEPTION: "settings",
  INVALID_PARTITIONS: "settings",
  INVALID_REPLICA_ASSIGNMENT: "settings",
  INVALID_CONFIG: "settings",
  INVALID_REQUIRED_ACKS: "settings",
  INVALID_RECORD: "settings",
  INVALID_TIMESTAMP: "settings",
  POLICY_VIOLATION: "settings",
  UNSUPPORTED_VERSION: "settings",
  UNSUPPORTED_FOR_MESSAGE_FORMAT: "settings",
  TOPIC_DELETION_DISABLED: "settings",
};

/** What somebody can do about an error, by its name. */
export const meanings: Readonly<Record<string, string>> = {
  MESSAGE_TOO_LARGE: "it has more bytes than max.message.bytes of the topic, which can be raised",
  KAFKA_STORAGE_ERROR: "the disk of the broker is full or failed",
  INVALID_TIMESTAMP:
    "its time differs from the clock of the broker by more than message.timestamp.after.max.ms or before.max.ms of the topic allow; set the clocks right, or the topic to message.timestamp.type = LogAppendTime",
  NOT_ENOUGH_REPLICAS: "fewer replicas are in sync than min.insync.replicas",
  NOT_ENOUGH_REPLICAS_AFTER_APPEND: "fewer replicas are in sync than min.insync.replicas",
  REQUEST_TIMED_OUT: "other brokers have not confirmed it in time",
  INVALID_REPLICATION_FACTOR:
    "fewer brokers are there than replicas are wanted; start the others, or see replication_factor",
  SASL_AUTHENTICATION_FAILED: "the brokers refuse the user; see sasl_username and sasl_password",
  UNSUPPORTED_SASL_MECHANISM: "the brokers do not offer this mechanism; see sasl_mechanism",
  ILLEGAL_SASL_STATE: "the brokers do not authenticate users on this port; see security_protocol",
  TOPIC_AUTHORIZATION_FAILED: "the user may not do it; allow it by the ACLs of the topic",
  GROUP_AUTHORIZATION_FAILED: "the user may not use the group; allow Read on it",
  CLUSTER_AUTHORIZATION_FAILED: "the user may not do it; allow it by the ACLs of the cluster",
  INCONSISTENT_GROUP_PROTOCOL:
    "other programs are members of it, and records that they get count as read; stop them, or give the source a group of its own",
  INVALID_SESSION_TIMEOUT:
    "the brokers take session_timeout from group.min.session.timeout.ms (6000 where nobody changed it) to group.max.session.timeout.ms; change it, or those",
};

/** The error of a code in an answer. */
export function protocolError(library: Library, code: number, doing: string, detail?: string | null): KafkaError {
  const names: Readonly<Record<string, string>> = library.protocolErrorsCodesById;
  const id = names[String(code)] ?? `error ${code}`;
  const more = meanings[id] ?? (detail === undefined || detail === null || detail === "" ? undefined : detail);
  return new KafkaError(kinds[id] ?? "unavailable", `${doing}: ${id}${more === undefined ? "" : `, ${more}`}`, { id });
}

/** The error of anything that a request or a connection threw. */
export function kafkaErrorOf(error: unknown, doing: string): KafkaError {
  if (error instanceof KafkaError) return error;
  const chain = causes(error);
  const id = chain.map(({ apiId }) => apiId).find((name) => name !== undefined);
  if (id !== undefined) {
    const meaning = meanings[id];
    const text = `${doing}: ${id}${meaning === undefined ? "" : `, ${meaning}`}`;
    return new KafkaError(kinds[id] ?? "unavailable", text, { id, cause: error });
  }
  const tls = tlsMeaningOf(chain);
  if (tls !== undefined) return new KafkaError("denied", `${doing}: ${tls}`, { cause: error });
  if (chain.some(({ code }) => code === "PLT_KFK_AUTHENTICATION")) {
    const reason = `the authentication failed (${chain.at(-1)?.message}); see sasl_mechanism, sasl_username and sasl_password`;
    return new KafkaError("denied", `${doing}: ${reason}`, { cause: error });
  }
  const last = chain.at(-1);
  const reason = last === undefined ? String(error) : last.code?.startsWith("E") ? last.code : last.message;
  return new KafkaError("unavailable", `${doing}: ${reason}`, { cause: error });
}

/** Whether it says what is wrong with TLS, which explains more than that a connection was closed. */
export function isOfTls(error: unknown): boolean {
  return tlsMeaningOf(causes(error)) !== undefined;
}

function tlsMeaningOf(chain: readonly Link[]): string | undefined {
  return chain.map(({ code, message }) => tlsMeaning(code ?? "", message)).find((text) => text !== undefined);
}

interface Link {
  readonly message: string;
  readonly code: string | undefined;
  readonly apiId: string | undefined;
}

/** The error, what caused it and what it is made of, from the outside to the inside. */
function causes(error: unknown): readonly Link[] {
  if (!(error instanceof Error)) return [];
  const inner = error instanceof AggregateError ? error.errors.flatMap(causes) : [];
  return [
    { message: error.message, code: textOf(error, "code"), apiId: textOf(error, "apiId") },
    ...inner,
    ...causes(error.cause),
  ];
}

function textOf(error: object, name: string): string | undefined {
  const value: unknown = Reflect.get(error, name);
  return typeof value === "string" ? value : undefined;
}

const words: TlsWords = {
  server: "the broker",
  ca: "ssl_ca_file",
  client: "ssl_cert_file and ssl_key_file",
  plain: "see security_protocol",
  name: "name the brokers in bootstrap_servers and in their advertised.listeners as the certificate does",
};

function tlsMeaning(code: string, message: string): string | undefined {
  return tlsReason({ code, message }, words);
}
