import type { Event, IncomingTransaction } from "../sdk/index.js";
import type { TransactionObserver, WriteAttempt } from "../tokens.js";
import { ageOf, byScope, keyOf, OTHER, type Scope, scopeOf, shares } from "./scopes.js";
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
  #counts = new Map<string, ScopeCounts>();

  /** Beyond `mostScopes` pairs of service and sub-service, further ones are counted together. */
  constructor(mostScopes: number) {
    this.#mostScopes = mostScopes;
  }

  received(_source: string, transaction: IncomingTransaction): void {
    const counts = this.#of(scopeOf(transaction.service, transaction.servicePath));
    counts.incoming += 1;
    counts.incomingRequestBytes += transaction.requestBytes;
    counts.incomingResponseBytes += transaction.responseBytes;
    if (transaction.failed) counts.incomingErrors += 1;
  }

  attempted({ events, finishedAt, receipt }: WriteAttempt): void {
    const groups = [...byScope(events).values()];
    const sizes = groups.map((group) => group.events.length);
    const requestBytes = shares(receipt?.requestBytes ?? 0, sizes);
    const responseBytes = shares(receipt?.responseBytes ?? 0, sizes);
    for (const [index, group] of groups.entries()) {
      const counts = this.#of(group.scope);
      counts.outgoing += group.events.length;
      counts.outgoingRequestBytes += requestBytes[index] ?? 0;
      counts.outgoingResponseBytes += responseBytes[index] ?? 0;
      if (receipt === undefined) counts.outgoingErrors += group.events.length;
      for (const event of group.events) counts.processingMillis += ageOf(event, finishedAt);
    }
  }

  /** A notification that was taken and then not stored is an error of the incoming side too. */
  givenUp(_sink: string, events: readonly Event[]): void {
    for (const group of byScope(events).values()) this.#of(group.scope).incomingErrors += group.events.length;
  }

  snapshot(): MetricsView {
    const all = [...this.#counts.values()];
    const services = new Map<string, ScopeCounts[]>();
    for (const one of all) services.set(one.scope.service, [...(services.get(one.scope.service) ?? []), one]);
    return {
      services: Object.fromEntries([...services].map(([service, scopes]) => [service, summed(scopes)])),
      sum: summed(all),
    };
  }

  reset(): void {
    this.#counts = new Map();
  }

  #of(scope: Scope): TransactionCounts {
    const known = this.#counts.get(keyOf(scope));
    if (known !== undefined) return known.counts;
    if (this.#counts.size >= this.#mostScopes && scope.service !== OTHER) {
      return this.#of({ service: OTHER, subService: OTHER });
    }
    const counts = new TransactionCounts();
    this.#counts.set(keyOf(scope), { scope, counts });
    return counts;
  }
}

interface ScopeCounts {
  readonly scope: Scope;
  readonly counts: TransactionCounts;
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
