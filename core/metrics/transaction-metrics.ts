import type { Event, IncomingTransaction } from "../sdk/index.js";
import type { TransactionObserver, WriteAttempt } from "../tokens.js";
import { ByScope, byScope, forAges, type Scope, shares } from "./scopes.js";

interface ServiceMetricsView {
  readonly subservs: Readonly<Record<string, TransactionMetricsView>>;
  readonly sum: TransactionMetricsView;
}

interface MetricsView {
  readonly services: Readonly<Record<string, ServiceMetricsView>>;
  readonly sum: ServiceMetricsView;
}

/** Counts transactions by service and sub-service. An event counts once for each attempt of each sink to write it. */
export class TransactionMetrics implements TransactionObserver {
  readonly #mostScopes: number;
  #counts: ByScope<ScopeCounts>;

  /** Beyond `mostScopes` pairs of service and sub-service, all others are counted together. */
  constructor(mostScopes: number) {
    this.#mostScopes = mostScopes;
    this.#counts = countsFor(mostScopes);
  }

  received(_source: string, transaction: IncomingTransaction): void {
    const { counts } = this.#counts.of(transaction.service, transaction.servicePath);
    counts.incoming += 1;
    counts.incomingRequestBytes += transaction.requestBytes;
    counts.incomingResponseBytes += transaction.responseBytes;
    if (transaction.failed) counts.incomingErrors += 1;
  }

  attempted({ events, finishedAt, receipt }: WriteAttempt): void {
    const groups = byScope(events);
    const sizes = groups.map((group) => group.events.length);
    const requestBytes = shares(receipt?.requestBytes ?? 0, sizes);
    const responseBytes = shares(receipt?.responseBytes ?? 0, sizes);
    for (const [index, group] of groups.entries()) {
      const { counts } = this.#counts.of(group.service, group.servicePath);
      counts.outgoing += group.events.length;
      counts.outgoingRequestBytes += requestBytes[index] ?? 0;
      counts.outgoingResponseBytes += responseBytes[index] ?? 0;
      if (receipt === undefined) counts.outgoingErrors += group.events.length;
      forAges(group.events, finishedAt, (age) => {
        counts.processingMillis += age;
      });
    }
  }

  /** A notification that was accepted and then not stored is an incoming error too. */
  givenUp(_sink: string, events: readonly Event[]): void {
    for (const { service, servicePath, events: own } of byScope(events)) {
      this.#counts.of(service, servicePath).counts.incomingErrors += own.length;
    }
  }

  snapshot(): MetricsView {
    const { all } = this.#counts;
    const services = new Map<string, ScopeCounts[]>();
    for (const one of all) services.set(one.scope.service, [...(services.get(one.scope.service) ?? []), one]);
    return {
      services: Object.fromEntries([...services].map(([service, scopes]) => [service, summed(scopes)])),
      sum: summed(all),
    };
  }

  reset(): void {
    this.#counts = countsFor(this.#mostScopes);
  }
}

interface ScopeCounts {
  readonly scope: Scope;
  readonly counts: TransactionCounts;
}

function countsFor(mostScopes: number): ByScope<ScopeCounts> {
  return new ByScope((scope) => ({ scope, counts: new TransactionCounts() }), mostScopes);
}

/** The counts by sub-service, added up over services, and their sum. */
function summed(scopes: readonly ScopeCounts[]): ServiceMetricsView {
  const sum = new TransactionCounts();
  const subServices = new Map<string, TransactionCounts>();
  for (const { scope, counts } of scopes) {
    const subService = subServices.get(scope.subService) ?? new TransactionCounts();
    subService.add(counts);
    sum.add(counts);
    subServices.set(scope.subService, subService);
  }
  return {
    subservs: Object.fromEntries([...subServices].map(([name, counts]) => [name, counts.view()])),
    sum: sum.view(),
  };
}

/** The metrics of one scope, in the names of the management interface; sizes in bytes, serviceTime in milliseconds. */
interface TransactionMetricsView {
  readonly incomingTransactions: number;
  readonly incomingTransactionRequestSize: number;
  readonly incomingTransactionResponseSize: number;
  readonly incomingTransactionError: number;
  /** The same in the spelling of the predecessor. */
  readonly incomingTransactionErrors: number;
  readonly serviceTime: number;
  readonly outgoingTransactions: number;
  readonly outgoingTransactionRequestSize: number;
  readonly outgoingTransactionResponseSize: number;
  readonly outgoingTransactionError: number;
  readonly outgoingTransactionErrors: number;
}

/** What is counted for one service and sub-service. */
class TransactionCounts {
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
      incomingTransactionErrors: this.incomingErrors,
      serviceTime: this.outgoing === 0 ? 0 : this.processingMillis / this.outgoing,
      outgoingTransactions: this.outgoing,
      outgoingTransactionRequestSize: this.outgoingRequestBytes,
      outgoingTransactionResponseSize: this.outgoingResponseBytes,
      outgoingTransactionError: this.outgoingErrors,
      outgoingTransactionErrors: this.outgoingErrors,
    };
  }
}
