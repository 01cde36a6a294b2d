import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { isRecord } from "../sdk/event.js";
import type { Kind } from "../sdk/index.js";
import type { CataloguedPlugin, PluginCatalogue } from "../tokens.js";
import { type Discovery, discover, sortedPlugins } from "./discover.js";
import type { Loading } from "./load-plugin.js";

/** A plugin by its kind, its type and its aliases. */
interface NamedPlugin {
  readonly kind: string;
  readonly names: readonly string[];
}

/** Plugins by the folder that they are in. */
type PluginNames = ReadonlyMap<string, readonly NamedPlugin[]>;

/** A catalogue that may hold a part of its plugins. */
export interface GrowingCatalogue extends PluginCatalogue {
  /** Whether it was asked for something that only the whole catalogue knows. */
  readonly lacks: boolean;
  /** Loads the plugins that are not loaded yet; what was found before stays the same. */
  complete(): Promise<void>;
}

/** A catalogue that lacks nothing. */
export function wholeCatalogue(catalogue: PluginCatalogue): GrowingCatalogue {
  return { ...catalogue, lacks: false, complete: async () => {} };
}

/** What is read and loaded, and what becomes of problems. */
interface Source extends Partial<Loading> {
  readonly folder: string;
  /** The text of a properties file. */
  readonly text: string;
  readonly report: (problems: Discovery["problems"]) => void;
}

/**
 * The plugins of a folder that a text names, the others when they are needed. Undefined where the names of its plugins are not
 * written down, in `names.json`, as the build does it.
 */
export async function namedPlugins(source: Source): Promise<GrowingCatalogue | undefined> {
  const { folder, text, report, ...loading } = source;
  const names = await namesIn(folder);
  if (names === undefined) return undefined;
  const written = wordsIn(text);
  const chosen = new Set([...names].flatMap(([name, plugins]) => (plugins.some(isNamedBy(written)) ? [name] : [])));
  const load = async (wanted: (folder: string) => boolean) => {
    const { catalogue, problems } = await discover([folder], { ...loading, wanted: (path) => wanted(basename(path)) });
    report(problems);
    return catalogue;
  };
  const first = await load((name) => chosen.has(name));
  return new NamedPlugins(first, { names, rest: () => load((name) => !chosen.has(name)) });
}

/** Kinds of which a component may have one that its file does not name. */
const PRESET: ReadonlySet<string> = new Set(["selector", "sink-processor"] satisfies Kind[]);

function isNamedBy(written: ReadonlySet<string>) {
  return ({ kind, names }: NamedPlugin) => PRESET.has(kind) || names.some((name) => written.has(lastPart(name)));
}

/** The words of a text, of class names their last parts. */
function wordsIn(text: string): ReadonlySet<string> {
  return new Set(text.split(/[\s=:,;"']+/).map(lastPart));
}

function lastPart(name: string): string {
  return name.slice(name.lastIndexOf(".") + 1).toLowerCase();
}

/** Undefined where the list is missing, or is not that of what is in the folder. */
async function namesIn(folder: string): Promise<PluginNames | undefined> {
  try {
    const listed: unknown = JSON.parse(await readFile(join(folder, "names.json"), "utf8"));
    const folders = (await readdir(folder, { withFileTypes: true })).filter((entry) => !entry.isFile());
    const names = new Map(isRecord(listed) ? Object.entries(listed) : []);
    if (names.size !== folders.length || !folders.every(({ name }) => isNamed(names.get(name)))) return undefined;
    return new Map([...names].flatMap(([name, plugins]) => (isNamed(plugins) ? [[name, plugins]] : [])));
  } catch {
    return undefined;
  }
}

function isNamed(plugins: unknown): plugins is readonly NamedPlugin[] {
  return (
    Array.isArray(plugins) &&
    plugins.every((one) => isRecord(one) && typeof one.kind === "string" && Array.isArray(one.names))
  );
}

interface Growth {
  readonly names: PluginNames;
  readonly rest: () => Promise<PluginCatalogue>;
}

class NamedPlugins implements GrowingCatalogue {
  readonly #first: PluginCatalogue;
  readonly #growth: Growth;
  #rest: PluginCatalogue | undefined;
  #completing: Promise<void> | undefined;
  #lacks = false;

  constructor(first: PluginCatalogue, growth: Growth) {
    this.#first = first;
    this.#growth = growth;
  }

  get lacks(): boolean {
    return this.#lacks;
  }

  get leftOut() {
    return [...(this.#first.leftOut ?? []), ...(this.#rest?.leftOut ?? [])];
  }

  find(kind: Kind, type: string) {
    const found = this.#first.find(kind, type) ?? this.#rest?.find(kind, type);
    if (found === undefined && this.#isListed(kind, type)) this.#lack();
    return found;
  }

  list(): readonly CataloguedPlugin[] {
    this.#lack();
    return sortedPlugins([...this.#first.list(), ...(this.#rest?.list() ?? [])]);
  }

  aliases(kind: Kind): readonly string[] {
    return this.#namesOf(kind).flatMap(([, ...aliases]) => aliases);
  }

  complete(): Promise<void> {
    this.#completing ??= this.#complete();
    return this.#completing;
  }

  async #complete(): Promise<void> {
    this.#rest = await this.#growth.rest();
    this.#lacks = false;
  }

  #lack(): void {
    this.#lacks ||= this.#rest === undefined;
  }

  #isListed(kind: Kind, type: string): boolean {
    const wanted = type.toLowerCase();
    return this.#namesOf(kind).some((names) => names.some((name) => name.toLowerCase() === wanted));
  }

  #namesOf(kind: Kind): readonly (readonly string[])[] {
    const all = [...this.#growth.names.values()].flat();
    const ofKind = all.filter((plugin) => plugin.kind === kind).map(({ names }) => names);
    // As a catalogue lists them, by their types.
    return ofKind.toSorted(([one = ""], [other = ""]) => (one < other ? -1 : 1));
  }
}
