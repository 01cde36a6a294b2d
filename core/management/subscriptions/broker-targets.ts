import { isIP } from "node:net";
import { AgentError, addressText } from "../../sdk/index.js";

/** The address of a broker, and how to call it. */
export interface BrokerEndpoint {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  /** What a proxy has before the paths of the broker, for example `/orion`; empty for none. */
  readonly prefix: string;
  /** Sent as `X-Auth-Token` when there is one. */
  readonly token: string | undefined;
}

/** Host and port in the usual notation. */
export function addressOf({ host, port }: Pick<BrokerEndpoint, "host" | "port">): string {
  return addressText(host, port);
}

/** The brokers that calls are allowed to: `host`, `host:port`, `*.domain` or `*`, each with a path prefix or without. */
export class BrokerTargets {
  /** As they were configured. */
  readonly texts: readonly string[];
  readonly #allowed: readonly Target[];

  constructor(allowed: readonly string[]) {
    this.texts = allowed;
    this.#allowed = allowed.map(targetOf);
  }

  /** Throws when the broker is not allowed. */
  check(endpoint: BrokerEndpoint): void {
    const host = endpoint.host.toLowerCase();
    const address = addressOf({ ...endpoint, host });
    const allows = ({ name, prefix }: Target) =>
      (name === host || name === address || matches(name, host)) && isWithin(prefix, endpoint.prefix);
    if (this.#allowed.some(allows)) return;
    const remedy = "it is not among the allowed brokers; add it to --broker-targets or DENEB_BROKER_TARGETS";
    throw new AgentError("BROKER_NOT_ALLOWED", `calling broker "${address}${endpoint.prefix}": ${remedy}`, {
      retryable: false,
    });
  }
}

interface Target {
  readonly name: string;
  /** The path prefix that calls must have; empty: any. */
  readonly prefix: string;
}

function targetOf(text: string): Target {
  const slash = text.indexOf("/");
  const name = slash === -1 ? text : text.slice(0, slash);
  return { name: name.toLowerCase(), prefix: slash === -1 ? "" : text.slice(slash).replace(/\/+$/, "") };
}

function isWithin(allowed: string, prefix: string): boolean {
  return prefix === allowed || prefix.startsWith(`${allowed}/`) || allowed === "";
}

function matches(target: string, host: string): boolean {
  return target === "*" || (target.startsWith("*.") && isIP(host) === 0 && host.endsWith(target.slice(1)));
}
