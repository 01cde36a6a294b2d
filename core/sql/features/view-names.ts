import { createHash } from "node:crypto";
import { lowerCase, shorten } from "../../ngsi/index.js";

/** The names of the three views of an entity type. */
export interface ViewNames {
  readonly all: string;
  readonly latest: string;
  readonly tidy: string;
}

/**
 * Names of views by entity type, for types in the order in which they were first stored: the first one of several with
 * the same name keeps it, the others get a hash. Tables of entities never begin with `deneb_`.
 */
export function viewNames(types: readonly string[]): ReadonlyMap<string, ViewNames> {
  const taken = new Set<string>();
  const names = new Map<string, ViewNames>();
  for (const type of types) {
    if (names.has(type)) continue;
    const short = shortOf(type);
    const name = taken.has(short) ? `${short}_${hash(type)}` : short;
    taken.add(name);
    names.set(type, {
      all: shorten(`deneb_all_${name}`),
      latest: shorten(`deneb_latest_${name}`),
      tidy: shorten(`deneb_tidy_${name}`),
    });
  }
  return names;
}

/** The last part of an IRI; letters, digits and underscores. */
function shortOf(type: string): string {
  const last = /^[a-z][a-z0-9+.-]*:/i.test(type) ? (type.split(/[/#:]/).findLast((part) => part !== "") ?? type) : type;
  const plain = lowerCase(last).replaceAll(/[^a-z0-9_]/g, "_");
  return plain === "" ? "_" : plain;
}

function hash(type: string): string {
  return createHash("sha256").update(type).digest("hex").slice(0, 8);
}
