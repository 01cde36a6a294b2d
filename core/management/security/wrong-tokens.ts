import { isIPv6 } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "../../sdk/index.js";

const second = 1000;
/** An address that sent none so long begins anew. */
const memory = 15 * 60 * second;
const mostAddresses = 1000;
/** Answers that are held back at once; beyond that they are refused at once. */
const mostHeld = 100;
/** Wrong tokens of one address that are answered at once: somebody may have taken the wrong file. */
const patience = 3;
const firstDelay = 250;
const longestDelay = 5 * second;

export interface WrongTokensParts {
  readonly log: Logger;
  /** Told of each. */
  readonly count: () => void;
  /** Milliseconds of a clock that nobody sets. */
  readonly uptime?: () => number;
  readonly wait?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

interface Address {
  tries: number;
  lastAt: number;
}

/**
 * Answers wrong tokens the later the more of them an address sends, and logs and counts them. A right token is never
 * held back, from whatever address.
 */
export class WrongTokens {
  readonly #parts: Required<WrongTokensParts>;
  /** The address that sent one last is last. */
  readonly #addresses = new Map<string, Address>();
  #held = 0;

  constructor({ log, count, uptime = () => performance.now(), wait = waited }: WrongTokensParts) {
    this.#parts = { log, count, uptime, wait };
  }

  /** Resolves when the caller may be answered: true after its wait, false when too many wait already. */
  async held(remoteAddress: string, signal: AbortSignal): Promise<boolean> {
    const { log, count, wait } = this.#parts;
    const address = networkOf(remoteAddress);
    const tries = this.#tries(address);
    count();
    // The first, and then whenever they have doubled: a log is not filled by those who guess.
    if (Number.isInteger(Math.log2(tries))) log.warn({ address, tries }, "wrong management tokens");
    if (tries <= patience) return true;
    if (this.#held >= mostHeld) return false;
    this.#held += 1;
    try {
      await wait(Math.min(firstDelay * 2 ** (tries - patience - 1), longestDelay), signal);
    } finally {
      this.#held -= 1;
    }
    return true;
  }

  #tries(address: string): number {
    const now = this.#parts.uptime();
    const known = this.#addresses.get(address);
    const tries = known === undefined || now - known.lastAt > memory ? 1 : known.tries + 1;
    this.#addresses.delete(address);
    this.#addresses.set(address, { tries, lastAt: now });
    if (this.#addresses.size > mostAddresses) {
      const [oldest] = this.#addresses.keys();
      if (oldest !== undefined) this.#addresses.delete(oldest);
    }
    return tries;
  }
}

/** One machine may have all addresses of an IPv6 network. */
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
