import { MASK } from "../../configuration/configuration-fault.js";
import { comparableSettings } from "../../configuration/shown-settings.js";
import { nodesOf } from "../../configuration/topology.js";
import type { Assembly } from "../component.js";
import { withoutSecretMembers } from "./json-secrets.js";
import { isSecretWord } from "./secret-names.js";

/** Values that look like secrets wherever they stand. */
const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [^-]*PRIVATE KEY-----[\s\S]*?(?:-----END[^-]*-----|$)/g, MASK],
  [/(:\/\/)[^/\s"'@]+@/g, `$1${MASK}@`],
  [/\b(Bearer\s+)[^\s"',;]+/gi, `$1${MASK}`],
  [/\b(Basic\s+)[A-Za-z0-9+/_-]{8,}={0,2}/gi, `$1${MASK}`],
  [/(?<![\w-])eyJ[\w-]{6,}\.[\w-]+(?:\.[\w-]*)*/g, MASK],
  [/\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g, MASK],
  [/\bgh[pousr]_\w{20,}/g, MASK],
];

/** `password=x` and `token: x` outside of JSON. */
const ASSIGNED = /(?<![\w.~%-])([\w.~%-]{1,100})(\s?[=:]\s?)([^\s"'&;,{}[\]]+)/g;

/** Headers whose values are shown; all others are masked, whatever they are called. */
const SHOWN_HEADERS: ReadonlySet<string> = new Set([
  ...["accept", "connection", "content-encoding", "content-length", "content-type", "expect", "host", "link"],
  ...["transfer-encoding", "user-agent", "via", "fiware-service", "fiware-servicepath", "fiware-correlator"],
  ...["ngsild-tenant", "ngsild-attribute-format", "ngsiv2-attrsformat"],
]);
const MOST_HEADERS = 50;
const LONGEST_NAME = 100;
const LONGEST_VALUE = 300;
const LONGEST_PATH = 1000;

/** Removes secrets from what arrives: by names, by what values look like, and those that the configuration knows. */
export class Masking {
  readonly #known: readonly string[];

  /** The secrets of the running configuration. */
  constructor(known: Iterable<string>) {
    // The longest first: one may be a part of another.
    const written = [...known].flatMap((one) => [one, JSON.stringify(one).slice(1, -1), encodeURIComponent(one)]);
    this.#known = [...new Set(written)].toSorted((one, other) => other.length - one.length);
  }

  /** Any text. */
  text(text: string, longest: number): string {
    const assigned = text.replace(ASSIGNED, (all, name: string, sign: string) =>
      isSecretWord(decoded(name)) ? `${name}${sign}${MASK}` : all,
    );
    return cut(this.#values(assigned), longest);
  }

  /** A body, JSON or not. */
  body(text: string, longest: number): string {
    return this.text(withoutSecretMembers(text), longest);
  }

  /** A path with its query; the fields of the query are separated as in a URL. */
  path(path: string): string {
    const start = path.indexOf("?");
    if (start === -1) return this.text(path, LONGEST_PATH);
    const fields = path.slice(start + 1).split("&");
    const shown = fields.map((field) => {
      const [name = ""] = field.split("=", 1);
      return isSecretWord(decoded(name)) && field.includes("=") ? `${name}=${MASK}` : field;
    });
    return this.text(`${path.slice(0, start)}?${shown.join("&")}`, LONGEST_PATH);
  }

  headers(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
    return Object.fromEntries(
      Object.entries(headers)
        .slice(0, MOST_HEADERS)
        .map(([name, value]) => {
          const isShown = SHOWN_HEADERS.has(name.toLowerCase());
          return [this.text(name, LONGEST_NAME), isShown ? this.text(String(value), LONGEST_VALUE) : MASK];
        }),
    );
  }

  #values(text: string): string {
    let shown = text;
    for (const [pattern, replacement] of PATTERNS) shown = shown.replace(pattern, replacement);
    for (const secret of this.#known) if (shown.includes(secret)) shown = shown.replaceAll(secret, () => MASK);
    return shown;
  }
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

function cut(text: string, longest: number): string {
  return text.length > longest ? text.slice(0, longest) : text;
}

/** A shorter one is a part of many words, and would mask what is no secret. */
export const SHORTEST_SECRET = 4;
const MOST_SECRETS = 1000;

/** The secrets of a running configuration, as texts. */
export function configuredSecrets({ sources, channels, sinks }: Assembly): ReadonlySet<string> {
  const nodes = nodesOf({
    sources: sources.map(({ node }) => node),
    channels: channels.map(({ node }) => node),
    sinks: sinks.map(({ node }) => node),
    groups: sinks.flatMap(({ group }) => group ?? []),
  });
  const texts = nodes.flatMap(({ definition, config }) =>
    comparableSettings(definition.config, config)
      .filter(({ shown }) => shown.masked === true)
      .flatMap(({ value }) => textsIn(value)),
  );
  return new Set(texts.filter((text) => text.length >= SHORTEST_SECRET).slice(0, MOST_SECRETS));
}

/** The texts of a value, and of what it holds. */
export function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
