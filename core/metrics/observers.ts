import type { TransactionObserver } from "../tokens.js";

/** An observer that forwards every call to several observers. */
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
