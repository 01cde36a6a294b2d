import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { CertificateState } from "../metrics/host-instruments.js";
import type { Part } from "./component.js";

/** Milliseconds that a file has to be read: a network share that is gone must not hold up what waits for it. */
const LONGEST = 5000;

/**
 * When the certificates expire that components have loaded. A file is read once for each component that is created, when it
 * starts: one that is replaced on disk later is in use when its component starts again, or has failed to connect with the one before.
 */
export class Certificates {
  readonly #parts: () => readonly Part[];
  /** By what a component reports to, which it has for itself and those nested in it. */
  readonly #known = new WeakMap<Part["reported"], Map<string, readonly CertificateState[]>>();
  #others: readonly CertificateState[] = [];

  constructor(parts: () => readonly Part[]) {
    this.#parts = parts;
  }

  /** Adds a certificate that is of no component. */
  add(component: string, path: string, pem: string): void {
    this.#others = [...this.#others, ...stateOf({ component, path, pem })];
  }

  /** Reads those of components that were not read yet; after a start and after each reload. */
  async read(): Promise<void> {
    for (const { name, definition, config, reported } of this.#parts()) {
      const known = this.#known.get(reported) ?? new Map<string, readonly CertificateState[]>();
      this.#known.set(reported, known);
      if (known.has(name)) continue;
      known.set(name, []);
      const files = pathsOf(() => definition.certificates?.(config));
      const states = await Promise.all(files.map((path) => loaded(name, path)));
      known.set(name, states.flat());
    }
  }

  get states(): readonly CertificateState[] {
    const own = this.#parts().flatMap(({ name, reported }) => this.#known.get(reported)?.get(name) ?? []);
    return [...this.#others, ...own];
  }
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

/** The component itself reports a file that it cannot read. */
async function loaded(component: string, path: string): Promise<readonly CertificateState[]> {
  try {
    const pem = await readFile(path, { encoding: "utf8", signal: AbortSignal.timeout(LONGEST) });
    return stateOf({ component, path, pem });
  } catch {
    return [];
  }
}

interface LoadedFile {
  readonly component: string;
  readonly path: string;
  readonly pem: string;
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** A chain is of use until the first of it expires. */
function stateOf({ component, path, pem }: LoadedFile): readonly CertificateState[] {
  const ends = [...pem.matchAll(CERTIFICATE)].flatMap(([text]) => expiryOf(text));
  return ends.length === 0 ? [] : [{ component, path, expires: new Date(Math.min(...ends)) }];
}

function expiryOf(pem: string): readonly number[] {
  try {
    const end = Date.parse(new X509Certificate(pem).validTo);
    return Number.isNaN(end) ? [] : [end];
  } catch {
    return [];
  }
}
