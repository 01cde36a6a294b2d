import { AgentError, codeOf, reasonOf, type TlsWords, tlsReason } from "deneb/sdk";

/** What a server of NATS answers instead of doing what a request asks. */
export interface ApiError {
  readonly code?: number;
  readonly err_code?: number;
  readonly description?: string;
}

export const apiCodes = {
  streamNotFound: 10_059,
  nameInUse: 10_058,
  consumersLimit: 10_026,
  messageNotFound: 10_037,
  idleTooLong: 10_153,
} as const;

/** Another record came before; the second one, of servers later than 2.10, is still on its way to the disk. */
const FASTER: readonly number[] = [10_071, 10_164];

/** Store failed, insufficient resources, limits of the account. */
const FULL: readonly number[] = [10_077, 10_023, 10_002];
const TOO_LARGE = 10_054;
/** A cluster without a leader, or one that loses a server; a record of the same id that is still on its way. */
const AWAY: readonly number[] = [10_008, 10_009, 10_118, 10_158];
const TOO_MANY_REQUESTS = 429;
/** Fewer servers than replicas: some of a cluster that has just begun are not there yet. */
const FEW_SERVERS = 10_005;
/** JetStream is off, for the account or at all; replicas without a cluster; a stream that the server or the account does not allow. */
const WRONG: readonly number[] = [10_076, 10_039, 10_074, 10_052];
/** What to do where the account allows no such stream: too many, subjects of another one, without max_bytes, one that is too large. */
const REMEDIES: Readonly<Record<number, string>> = {
  10027: "remove one, or raise max_streams of the account",
  10065: 'change the property "stream"',
  10113: 'set the property "max_bytes"',
  10122: 'lower the property "max_bytes"',
};
/** Storage that a stream with max_bytes takes when it is made. */
const NO_ROOM: readonly number[] = [10_047, 10_028];

export function logUnavailable(doing: string, reason: string): AgentError {
  return new AgentError("LOG_UNAVAILABLE", `${doing}: ${reason}`, { retryable: true });
}

export function logFull(doing: string, reason: string): AgentError {
  const remedy =
    "raise max_bytes or max_msgs of the stream or the storage of the account, or see why events are not stored";
  return new AgentError("LOG_FULL", `${doing}: ${reason}; ${remedy}`, { retryable: true });
}

function noRoom(doing: string, reason: string): AgentError {
  const remedy = 'lower the property "max_bytes", or give the account or the servers more storage';
  return new AgentError("LOG_FULL", `${doing}: ${reason}; ${remedy}`, { retryable: true });
}

/** Tells the channel that nothing of a record was sent. */
export function notSent(error: AgentError): AgentError {
  return Object.assign(error, { appended: false });
}

/** A try to append a record had no answer, and the next one failed like this. */
export function logUnanswered(doing: string, error: unknown): AgentError {
  const reason = reasonOf(error).replace(`${doing}: `, "");
  const message = `${doing}: ${reason}; whether it is in the stream is not known`;
  return new AgentError("LOG_UNANSWERED", message, { retryable: true, cause: error });
}

/** Nobody takes the subject of a request: the stream is gone, or the server has just begun. */
export class NobodyAnswers extends AgentError {
  constructor(doing: string, subject: string) {
    super("LOG_UNAVAILABLE", `${doing}: nobody answers "${subject}", JetStream is off or begins`, { retryable: true });
  }
}

export function logSettings(doing: string, reason: string): AgentError {
  return new AgentError("LOG_SETTINGS", `${doing}: ${reason}`, { retryable: false });
}

function logDenied(doing: string, reason: string): AgentError {
  return new AgentError("LOG_DENIED", `${doing}: ${reason}`, { retryable: false });
}

export function recordTooLarge(doing: string, reason: string): AgentError {
  return new AgentError("RECORD_TOO_LARGE", `${doing}: ${reason}`, { retryable: false });
}

/** The error for an answer of the API of JetStream. */
export function apiFailure(
  doing: string,
  { code = 500, err_code = 0, description = "no reason" }: ApiError,
): AgentError {
  const reason = `the server answers "${description}" (${err_code})`;
  if (NO_ROOM.includes(err_code)) return noRoom(doing, reason);
  if (FULL.includes(err_code)) return logFull(doing, reason);
  if (err_code === TOO_LARGE) return recordTooLarge(doing, `${reason}; raise max_msg_size of the stream`);
  if (err_code === FEW_SERVERS) {
    return logUnavailable(doing, `${reason}; replicas is the number of servers that must be there`);
  }
  const busy = code === TOO_MANY_REQUESTS || AWAY.includes(err_code);
  const away = busy || (code >= 500 && !WRONG.includes(err_code));
  if (away) return logUnavailable(doing, reason);
  const remedy = REMEDIES[err_code];
  return logSettings(doing, remedy === undefined ? reason : `${reason}; ${remedy}`);
}

/** Whether a record was not stored because it was expected to follow another one than it would have. */
export function wasFaster({ err_code = 0 }: ApiError): boolean {
  return FASTER.includes(err_code);
}

/** Whether the API of JetStream answered with this code. */
export function isAnswer(error: unknown, code: number): boolean {
  return error instanceof AgentError && error.message.includes(`(${code})`);
}

/** What the client threw; its message holds neither passwords nor tokens. */
export function clientFailure(doing: string, error: unknown): AgentError {
  if (error instanceof AgentError) return error;
  const found = chain(error);
  const nobody = found.find(({ name }) => name.startsWith("NoResponders"));
  if (nobody !== undefined) return new NobodyAnswers(doing, /'(.*)'/.exec(nobody.message)?.[1] ?? "");
  const violation = found.find(({ name }) => name === "PermissionViolationError");
  if (violation !== undefined) {
    const subject = /"([^"]*)"/.exec(violation.message)?.[1] ?? "a subject";
    const verb = /subscription/i.test(violation.message) ? "subscribe to" : "publish to";
    return logDenied(doing, `the user may not ${verb} "${subject}"; allow it in the permissions of the user`);
  }
  // The server takes less since a new connection; the client has sent nothing.
  if (found.some(({ name, message }) => name === "InvalidArgumentError" && message.includes("max_payload")))
    return recordTooLarge(doing, "it is larger than max_payload of the server is now; raise it");
  if (found.some(({ name }) => /^(?:Authorization|UserAuthenticationExpired)Error$/.test(name))) {
    return logDenied(doing, "the server refuses the credentials; check username, password, token and credentials_file");
  }
  return tlsFailure(doing, found) ?? logUnavailable(doing, found.map(reasonFor).at(-1) ?? reasonOf(error));
}

/** The name of each cause, the outermost first. */
function chain(error: unknown): readonly Error[] {
  return error instanceof Error ? [error, ...chain(error.cause)] : [];
}

function reasonFor(error: Error): string {
  return error.name === "TimeoutError" ? "the server does not answer in time (request_timeout)" : error.message;
}

const UNTRUSTED = /UNABLE_TO|CERT_UNTRUSTED|INVALID_CA/;

const words: TlsWords = {
  server: "the server",
  ca: "tls_ca_file",
  client: "tls_cert_file and tls_key_file",
  plain: "write nats:// in servers and leave out tls_ca_file, or turn TLS on at the server",
  name: "write servers as the certificate does",
};

function tlsFailure(doing: string, found: readonly Error[]): AgentError | undefined {
  for (const error of found) {
    const code = codeOf(error) ?? "";
    const reason = tlsReason({ code, message: error.message }, words);
    if (reason !== undefined) return logDenied(doing, reason);
    if (UNTRUSTED.test(code)) {
      return logDenied(doing, `the certificate of the server is not trusted (${code}); check tls_ca_file`);
    }
    if (code.startsWith("ERR_TLS_")) {
      return logDenied(doing, `TLS fails (${code}); check tls_ca_file, tls_cert_file and tls_key_file`);
    }
    if (/does not support 'tls'/.test(error.message)) {
      return logDenied(doing, `the server does not offer TLS; ${words.plain}`);
    }
  }
  return undefined;
}
