import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import type { CertificateState } from "../metrics/host-instruments.js";
import type { Part } from "./parts-of.js";

/** Milliseconds that a file has to be read: a network share that is gone must not hold up a scrape. */
const LONGEST = 1000;

interface File {
  readonly component: string;
  readonly path: string;
}

/**
 * When the certificates of components expire. Components follow the files that they name: what is replaced on disk is in use within
 * seconds, or when the component connects again. So the files are read at each scrape; of one that cannot be read now the last state counts.
 */
export class Certificates {
  readonly #parts: () => readonly Part[];
  readonly #others: File[] = [];
  /** By component and path, what was read last. */
  #last: ReadonlyMap<string, CertificateState> = new Map();
  /** The same, what is being read: a second reading would wait as well. */
  readonly #reading = new Map<string, Promise<CertificateState | undefined>>();

  constructor(parts: () => readonly Part[]) {
    this.#parts = parts;
  }

  /** Adds a file that is of no component. */
  add(component: string, path: string): void {
    this.#others.push({ component, path });
  }

  async states(): Promise<readonly CertificateState[]> {
    const end = new AbortController();
    const late = delay(LONGEST, undefined, { ref: false, signal: end.signal }).catch(() => undefined);
    const files = [...this.#others, ...this.#parts().flatMap(filesOf)];
    const read = files.map(async (file) => {
      const state = (await Promise.race([this.#read(file), late])) ?? this.#last.get(keyOf(file));
      return state === undefined ? [] : [[keyOf(file), state] as const];
    });
    const states = (await Promise.all(read)).flat();
    end.abort();
    this.#last = new Map(states);
    return [...this.#last.values()];
  }

  #read(file: File): Promise<CertificateState | undefined> {
    const key = keyOf(file);
    const known = this.#reading.get(key);
    if (known !== undefined) return known;
    const reading = stateOf(file).finally(() => this.#reading.delete(key));
    this.#reading.set(key, reading);
    return reading;
  }
}

function filesOf({ name: component, definition, config }: Part): readonly File[] {
  return pathsOf(() => definition.certificates?.(config)).map((path) => ({ component, path }));
}

function keyOf({ component, path }: File): string {
  return JSON.stringify([component, path]);
}

/** A plugin may do anything. */
function pathsOf(ask: () => unknown): readonly string[] {
  try {
    const paths = ask();
    return Array.isArray(paths) ? paths.filter((path) => typeof path === "string" && path !== "") : [];
  } catch {
    return [];
  }
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** A chain is of use until the first of it expires. Undefined for a file that cannot be read, which the component reports. */
async function stateOf({ component, path }: File): Promise<CertificateState | undefined> {
  const pem = await readFile(path, "utf8").catch(() => "");
  const ends = [...pem.matchAll(CERTIFICATE)].flatMap(([text]) => expiryOf(text));
  return ends.length === 0 ? undefined : { component, path, expires: new Date(Math.min(...ends)) };
}

function expiryOf(pem: string): readonly number[] {
  try {
    const end = Date.parse(new X509Certificate(pem).validTo);
    return Number.isNaN(end) ? [] : [end];
  } catch {
    return [];
  }
}
