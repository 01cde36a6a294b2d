/** One line of a properties file, its value as written. */
export interface Setting {
  /** The full key, for example `a1.sinks.s.batch_size`. */
  readonly key: string;
  readonly value: string;
  /** Undefined for a setting that no file holds. */
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
