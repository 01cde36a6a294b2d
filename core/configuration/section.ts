import type { Setting, Settings } from "./setting.js";

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
  const components = new Map<string, Settings>();
  for (const [path, setting] of below) {
    const [name = "", ...rest] = path.split(".");
    if (name === "" || rest.length === 0) continue;
    components.set(name, new Map([...(components.get(name) ?? []), [rest.join("."), setting]]));
  }
  return { key, list, components };
}

/** The lowest line among the lines of a component. */
export function firstLine(settings: Settings): number | undefined {
  const lines = [...settings.values()].flatMap(({ line }) => (line === undefined ? [] : [line]));
  return lines.length === 0 ? undefined : Math.min(...lines);
}
