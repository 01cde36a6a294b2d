import { Counter, type Registry } from "prom-client";
import type { TransactionObserver } from "../tokens.js";
import type { ServiceLabels } from "./scopes.js";

/** Refusals that say something about one service. */
const causes: ReadonlySet<string> = new Set(["quota", "channel-share-full"]);

/** Counts, by service, what is refused because of what that service sent or holds. */
export function quotaInstruments(registry: Registry, labels: ServiceLabels): Pick<TransactionObserver, "refused"> {
  const counter = new Counter({
    name: "deneb_source_over_quota_total",
    help: "Requests that a source refused because their service sent, or has in a channel, more than it may.",
    labelNames: ["source", "service", "cause"],
    registers: [registry],
  });
  return {
    refused: (source, { cause, service }) => {
      if (service !== undefined && causes.has(cause)) counter.inc({ source, service: labels.of(service), cause });
    },
  };
}
