import { AgentError } from "deneb/sdk";
import { REMADE } from "../client/directory.js";
import { KafkaError, type KafkaErrorKind } from "../client/kafka-error.js";

const codes: Readonly<Record<KafkaErrorKind, { readonly code: string; readonly retryable: boolean }>> = {
  unavailable: { code: "LOG_UNAVAILABLE", retryable: true },
  offset: { code: "LOG_UNAVAILABLE", retryable: true },
  full: { code: "LOG_FULL", retryable: true },
  denied: { code: "LOG_DENIED", retryable: false },
  "too-large": { code: "RECORD_TOO_LARGE", retryable: false },
  settings: { code: "LOG_SETTINGS", retryable: false },
};

/** The error of the log for one of the client; errors of the agent stay as they are. */
export function logError(error: unknown, doing: string): unknown {
  if (!(error instanceof KafkaError)) return error;
  if (error.isUnanswered) {
    const message = `${doing}: ${error.message}; whether the record is in the topic is not known`;
    return new AgentError("LOG_UNANSWERED", message, { retryable: true, cause: error });
  }
  const { code, retryable } = codes[error.kind];
  const remedy = error.id === REMADE ? "; restart the agents, which then use the new one" : "";
  return new AgentError(code, `${doing}: ${error.message}${remedy}`, { retryable, cause: error });
}
