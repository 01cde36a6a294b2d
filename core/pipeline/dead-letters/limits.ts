import { AgentError } from "../../sdk/index.js";

/** How much is kept; 0 is no limit. */
export interface DeadLetterLimits {
  /** Days after which a letter is removed. */
  readonly days: number;
  /** Bytes of the open letters of one sink; beyond that no more are kept. */
  readonly bytes: number;
}

export interface FullParts {
  readonly sink: string;
  readonly held: number;
  readonly added: number;
  readonly limit: number;
}

/** There is no room for more letters: their events stay where they are until somebody makes some. */
export function lettersFull({ sink, held, added, limit }: FullParts): AgentError {
  const remedy = "replay or drop some, or raise DENEB_DEAD_LETTER_BYTES (--dead-letter-bytes)";
  const state = `dead letters full: ${held} bytes of ${limit}, and ${added} more are needed`;
  return new AgentError("DEAD_LETTERS_FULL", `${state}; ${remedy} (sink "${sink}")`, { retryable: true });
}
