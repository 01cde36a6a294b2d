import { isIP } from "node:net";
import { AgentError } from "../../sdk/index.js";
import { addressOf, type BrokerEndpoint } from "./broker-endpoint.js";

/** The brokers that may be called. */
export class BrokerTargets {
  readonly #allowed: readonly string[];

  constructor(allowed: readonly string[]) {
    this.#allowed = allowed.map((target) => target.toLowerCase());
  }

  /** Throws when the broker is not among them. */
  check(endpoint: BrokerEndpoint): void {
    const host = endpoint.host.toLowerCase();
    const address = addressOf({ ...endpoint, host });
    if (this.#allowed.some((target) => target === host || target === address || matches(target, host))) return;
    const remedy = "it is not among the allowed brokers; add it to --broker-targets or DENEB_BROKER_TARGETS";
    throw new AgentError("BROKER_NOT_ALLOWED", `calling broker "${address}": ${remedy}`, { retryable: false });
  }
}

function matches(target: string, host: string): boolean {
  return target === "*" || (target.startsWith("*.") && isIP(host) === 0 && host.endsWith(target.slice(1)));
}
