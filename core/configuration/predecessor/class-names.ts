import { distance } from "fastest-levenshtein";
import type { AnyPlugin, Kind } from "../../sdk/index.js";
import type { PluginCatalogue } from "../../tokens.js";

/**
 * The name of the catalogue that a type stands for: itself, or the class name that a plugin accepts and that has the same
 * last part, written without its package or with other parts below the first two.
 */
export function acceptedName(kind: Kind, name: string, catalogue: PluginCatalogue): string {
  if (catalogue.find(kind, name) !== undefined) return name;
  return classNames(kind, catalogue).find((known) => isSameClass(name, known)) ?? name;
}

/** The plugin that a type of a file stands for. */
export function pluginNamed(kind: Kind, name: string, catalogue: PluginCatalogue): AnyPlugin | undefined {
  return catalogue.find(kind, acceptedName(kind, name, catalogue));
}

/** Whether a type is a class name that a plugin accepts, and no type of its own. */
export function isClassName(kind: Kind, name: string, catalogue: PluginCatalogue): boolean {
  const accepted = acceptedName(kind, name, catalogue).toLowerCase();
  return classNames(kind, catalogue).some((known) => known.toLowerCase() === accepted);
}

const LETTERS_OFF = 2;

/** The class name that a plugin accepts and that differs from this one in two letters at most. */
export function nearClassName(kind: Kind, name: string, catalogue: PluginCatalogue): string | undefined {
  const written = lastPart(name);
  return classNames(kind, catalogue).find((known) => distance(written, lastPart(known)) <= LETTERS_OFF);
}

/** The last part of a class name, in lower case. */
function lastPart(name: string): string {
  return (name.split(".").at(-1) ?? name).toLowerCase();
}

function classNames(kind: Kind, catalogue: PluginCatalogue): readonly string[] {
  return catalogue.aliases(kind).filter((alias) => alias.includes("."));
}

function isSameClass(name: string, known: string): boolean {
  if (lastPart(name) !== lastPart(known)) return false;
  return !name.includes(".") || vendor(name) === vendor(known);
}

function vendor(name: string): string {
  return name.toLowerCase().split(".").slice(0, 2).join(".");
}
