/** One line of a properties file, its value as written. */
export interface Setting {
  /** The full key, for example `a1.sinks.s.batch_size`. */
  readonly key: string;
  readonly value: string;
  /** Undefined for a setting that is not in a file. */
  readonly line: number | undefined;
}

/** Settings by the part of their key below a component, for example `batch_size`. */
export type Settings = ReadonlyMap<string, Setting>;

/** The settings below `name.`, by the part of their key after it. */
export function settingsBelow(settings: Settings, name: string): Settings {
  const prefix = `${name}.`;
  return new Map(
    [...settings]
      .filter(([key]) => key.startsWith(prefix))
      .map(([key, setting]) => [key.slice(prefix.length), setting]),
  );
}

/** The settings that are neither one of the names nor below one of the prefixes. */
export function settingsWithout(settings: Settings, names: readonly string[], prefixes: readonly string[]): Settings {
  const taken = (key: string) => names.includes(key) || prefixes.some((prefix) => key.startsWith(`${prefix}.`));
  return new Map([...settings].filter(([key]) => !taken(key)));
}

/** A list of component names and the lines below each: `a1.sinks`, or the interceptors of a source. */
export interface Section {
  /** For example `a1.sinks`. */
  readonly key: string;
  /** The line that lists the names. */
  readonly list: Setting | undefined;
  /** Lines below each component, by its name. */
  readonly components: ReadonlyMap<string, Settings>;
}

/** Groups the lines below a section by component; a line without a property of a component is left out. */
export function sectionOf(key: string, list: Setting | undefined, below: Settings): Section {
  const components = new Map<string, Map<string, Setting>>();
  for (const [path, setting] of below) {
    const [name = "", ...rest] = path.split(".");
    if (name === "" || rest.length === 0) continue;
    const settings = components.get(name) ?? new Map<string, Setting>();
    components.set(name, settings.set(rest.join("."), setting));
  }
  return { key, list, components };
}

/** The lowest line among the lines of a component. */
export function firstLine(settings: Settings): number | undefined {
  const lines = [...settings.values()].flatMap(({ line }) => (line === undefined ? [] : [line]));
  return lines.length === 0 ? undefined : Math.min(...lines);
}

/** The lines of one component of the file. */
export interface ComponentBlock {
  readonly name: string;
  /** The key up to and including the name, for example `a1.sinks.s`. */
  readonly key: string;
  readonly line: number | undefined;
  readonly settings: Settings;
}
