/** The metrics of one scope, in the names of the management interface; sizes in bytes, serviceTime in milliseconds. */
export interface TransactionMetricsView {
  readonly incomingTransactions: number;
  readonly incomingTransactionRequestSize: number;
  readonly incomingTransactionResponseSize: number;
  readonly incomingTransactionError: number;
  readonly serviceTime: number;
  readonly outgoingTransactions: number;
  readonly outgoingTransactionRequestSize: number;
  readonly outgoingTransactionResponseSize: number;
  readonly outgoingTransactionError: number;
}

/** What is counted for one service and sub-service. */
export class TransactionCounts {
  incoming = 0;
  incomingRequestBytes = 0;
  incomingResponseBytes = 0;
  incomingErrors = 0;
  /** Sum, over all writes of all events, of the time from reception to the end of the write. */
  processingMillis = 0;
  outgoing = 0;
  outgoingRequestBytes = 0;
  outgoingResponseBytes = 0;
  outgoingErrors = 0;

  add(other: TransactionCounts): void {
    this.incoming += other.incoming;
    this.incomingRequestBytes += other.incomingRequestBytes;
    this.incomingResponseBytes += other.incomingResponseBytes;
    this.incomingErrors += other.incomingErrors;
    this.processingMillis += other.processingMillis;
    this.outgoing += other.outgoing;
    this.outgoingRequestBytes += other.outgoingRequestBytes;
    this.outgoingResponseBytes += other.outgoingResponseBytes;
    this.outgoingErrors += other.outgoingErrors;
  }

  view(): TransactionMetricsView {
    return {
      incomingTransactions: this.incoming,
      incomingTransactionRequestSize: this.incomingRequestBytes,
      incomingTransactionResponseSize: this.incomingResponseBytes,
      incomingTransactionError: this.incomingErrors,
      serviceTime: this.outgoing === 0 ? 0 : this.processingMillis / this.outgoing,
      outgoingTransactions: this.outgoing,
      outgoingTransactionRequestSize: this.outgoingRequestBytes,
      outgoingTransactionResponseSize: this.outgoingResponseBytes,
      outgoingTransactionError: this.outgoingErrors,
    };
  }
}
