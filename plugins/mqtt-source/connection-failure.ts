import { codeOf, reasonOf, type TlsWords, tlsReason } from "deneb/sdk";

/** A connection that failed or ended. */
export interface Circumstances {
  /** Whether the broker had let the client in. */
  readonly isOpen: boolean;
  /** Whether the broker has ended several connections, this one among them, soon after it had let the client in. */
  readonly isRepeated: boolean;
  readonly clientId: string | undefined;
}

/** The error of a connection, with what to do where that can be told. */
export function explained(error: Error, { isOpen, isRepeated, clientId }: Circumstances): Error {
  const reason = tlsReason({ code: codeOf(error) ?? "", message: error.message }, words);
  if (reason !== undefined) return new Error(reason, { cause: error });
  const remedy = isOpen ? remedyOfClosed(error, isRepeated, clientId) : remedyOfRefused(error);
  return remedy === undefined ? error : new Error(`${reasonOf(error)}; ${remedy}`, { cause: error });
}

/** The error of a connection that the broker ended without a word, as MQTT 3.1.1 has it. */
export class ClosedByBroker extends Error {
  constructor() {
    super("the broker closed the connection");
  }
}

const words: TlsWords = {
  server: "the broker",
  ca: "tls_ca_file",
  client: "tls_cert_file and tls_key_file",
  plain: "write mqtt:// in url, or give the port for TLS",
  name: "write the host in url as the certificate does",
};

/** Whether the broker ended a connection that was open, and not the network or the client. */
export function isByBroker(error: Error): boolean {
  return error instanceof ClosedByBroker || closed.has(codeOf(error));
}

function remedyOfClosed(error: Error, isRepeated: boolean, clientId: string | undefined): string | undefined {
  if (!isByBroker(error)) return undefined;
  return isRepeated
    ? `it does so again and again soon after it has let the source in: another agent or source probably has the client_id "${clientId}", and the broker ends the connection of one for the other; give each a client_id of its own`
    : `if this happens again and again, see whether another client has the client_id "${clientId}", and what the broker logs`;
}

/** What an acknowledgement, or the first packet, fails with when the server has closed the connection. */
const closed: ReadonlySet<string | undefined> = new Set(["ECONNRESET", "EPIPE"]);

/** An error of the network has a text as its code, an answer of the broker a number; what is no answer has none. */
function remedyOfRefused(error: Error): string | undefined {
  const code = "code" in error ? error.code : undefined;
  if (typeof code === "number") return remedies[code];
  const isOdd = code === undefined || closed.has(codeOf(error));
  return isOdd
    ? "see whether url names the port of an MQTT broker, with mqtts:// if and only if it wants TLS"
    : undefined;
}

/** By the code that a broker of MQTT 3.1.1 refuses a connection with. */
const remedies: Readonly<Record<number, string>> = {
  2: "give another client_id",
  4: "check username and password",
  5: "check username and password",
};
