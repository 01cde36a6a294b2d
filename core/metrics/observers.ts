import type { TransactionObserver } from "../tokens.js";

/** One observer that tells several. */
export function observers(all: readonly TransactionObserver[]): TransactionObserver {
  return {
    received: (source, transaction) => {
      for (const one of all) one.received(source, transaction);
    },
    unrouted: (source, events) => {
      for (const one of all) one.unrouted?.(source, events);
    },
    refused: (source, refusal) => {
      for (const one of all) one.refused?.(source, refusal);
    },
    attempted: (attempt) => {
      for (const one of all) one.attempted(attempt);
    },
    givenUp: (sink, events) => {
      for (const one of all) one.givenUp(sink, events);
    },
  };
}
