import { AgentError } from "deneb/sdk";
import { KafkaError, type KafkaErrorKind } from "./client/kafka-error.js";

const codes: Readonly<Record<KafkaErrorKind, { readonly code: string }>> = {
  unavailable: { code: "KAFKA_UNAVAILABLE" },
  offset: { code: "KAFKA_UNAVAILABLE" },
  full: { code: "KAFKA_UNAVAILABLE" },
  denied: { code: "KAFKA_DENIED" },
  "too-large": { code: "RECORD_TOO_LARGE" },
  settings: { code: "KAFKA_SETTINGS" },
};

/** The error of the agent for one of the client; errors of the agent stay as they are. */
export function agentErrorOf(error: unknown, doing: string, retryable: (error: KafkaError) => boolean): unknown {
  if (!(error instanceof KafkaError)) return error;
  const { code } = codes[error.kind];
  return new AgentError(code, `${doing}: ${error.message}`, { retryable: retryable(error), cause: error });
}
