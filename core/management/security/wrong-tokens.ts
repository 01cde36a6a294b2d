import { isIPv6 } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "../../sdk/index.js";

const second = 1000;
/** Milliseconds without a wrong token after which the count of an address starts again. */
const forgetAfter = 15 * 60 * second;
const maxAddresses = 1000;
/** Maximum number of answers that are delayed at the same time; further calls are rejected immediately. */
const maxDelayed = 100;
/** Wrong tokens of one address that are answered without delay. */
const undelayed = 3;
const firstDelay = 250;
const longestDelay = 5 * second;

interface WrongTokensParts {
  readonly log: Logger;
  /** Called for each wrong token. */
  readonly count: () => void;
  /** Milliseconds of a monotonic clock. */
  readonly uptime?: () => number;
  readonly wait?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

interface Address {
  tries: number;
  lastAt: number;
}

/**
 * Delays the answers to wrong tokens, longer with each one that an address sends, and logs and counts them. Answers to
 * valid tokens are never delayed.
 */
export class WrongTokens {
  readonly #parts: Required<WrongTokensParts>;
  /** In the order of their last wrong token. */
  readonly #addresses = new Map<string, Address>();
  #delayed = 0;

  constructor({ log, count, uptime = () => performance.now(), wait = waited }: WrongTokensParts) {
    this.#parts = { log, count, uptime, wait };
  }

  /** Resolves when the caller is to be answered: true after its delay, false when too many answers are delayed already. */
  async held(remoteAddress: string, signal: AbortSignal): Promise<boolean> {
    const { log, count, wait } = this.#parts;
    const address = networkOf(remoteAddress);
    const tries = this.#tries(address);
    count();
    // The first, and then each time the number has doubled, so that guessing does not fill the log.
    if (Number.isInteger(Math.log2(tries))) log.warn({ address, tries }, "wrong management tokens");
    if (tries <= undelayed) return true;
    if (this.#delayed >= maxDelayed) return false;
    this.#delayed += 1;
    try {
      await wait(Math.min(firstDelay * 2 ** (tries - undelayed - 1), longestDelay), signal);
    } finally {
      this.#delayed -= 1;
    }
    return true;
  }

  #tries(address: string): number {
    const now = this.#parts.uptime();
    const known = this.#addresses.get(address);
    const tries = known === undefined || now - known.lastAt > forgetAfter ? 1 : known.tries + 1;
    this.#addresses.delete(address);
    this.#addresses.set(address, { tries, lastAt: now });
    if (this.#addresses.size > maxAddresses) {
      const [oldest] = this.#addresses.keys();
      if (oldest !== undefined) this.#addresses.delete(oldest);
    }
    return tries;
  }
}

/** IPv6 addresses are counted by network, since one machine can have all addresses of it. */
function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(address)) return address;
  const [head = "", tail] = address.split("%", 1).join("").split("::");
  const groups = head.split(":").filter((group) => group !== "");
  const rest = tail === undefined ? [] : tail.split(":").filter((group) => group !== "");
  const zeros = tail === undefined ? 0 : 8 - groups.length - rest.length;
  const all = [...groups, ...Array.from({ length: Math.max(0, zeros) }, () => "0"), ...rest];
  return `${all.slice(0, 4).join(":")}::/64`;
}

async function waited(milliseconds: number, signal: AbortSignal): Promise<void> {
  await delay(milliseconds, undefined, { signal, ref: false }).catch(() => undefined);
}
