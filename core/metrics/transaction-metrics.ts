import type { Event, IncomingTransaction } from "../sdk/index.js";
import type { TransactionObserver, WriteAttempt } from "../tokens.js";
import { ageOf, ByScope, byScope, type Scope, shares } from "./scopes.js";
import { TransactionCounts, type TransactionMetricsView } from "./transaction-counts.js";

export interface ServiceMetricsView {
  readonly subservs: Readonly<Record<string, TransactionMetricsView>>;
  readonly sum: TransactionMetricsView;
}

export interface MetricsView {
  readonly services: Readonly<Record<string, ServiceMetricsView>>;
  readonly sum: ServiceMetricsView;
}

/** Counts transactions by service and sub-service. An event that is written counts at each try of each sink. */
export class TransactionMetrics implements TransactionObserver {
  readonly #mostScopes: number;
  #counts: ByScope<ScopeCounts>;

  /** Beyond `mostScopes` pairs of service and sub-service, further ones are counted together. */
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
      for (const event of group.events) counts.processingMillis += ageOf(event, finishedAt);
    }
  }

  /** A notification that was taken and then not stored is an error of the incoming side too. */
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

/** The counts of each sub-service, those of several services added up, and of all together. */
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
