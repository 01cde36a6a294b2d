import { AgentError } from "deneb/sdk";

/** How many events one transaction of a channel may hold. */
export interface TransactionLimit {
  readonly channel: string;
  readonly most: number;
}

export function transactionTooLarge({ channel, most }: TransactionLimit): AgentError {
  return new AgentError(
    "TRANSACTION_TOO_LARGE",
    `one transaction of channel "${channel}" holds at most ${most} events; raise its property "transactionCapacity"`,
  );
}

export function transactionEnded({ channel }: TransactionLimit): AgentError {
  return new AgentError(
    "TRANSACTION_ENDED",
    `using a transaction of channel "${channel}" after its commit or rollback`,
  );
}
