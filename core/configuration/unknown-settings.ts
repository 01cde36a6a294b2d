import type { AnyPlugin, Slots } from "../sdk/index.js";
import type { PluginCatalogue } from "../tokens.js";
import type { Fault } from "./fault.js";
import { warningAt } from "./fault-at.js";
import { mapPrefix } from "./map-name.js";
import { nearest } from "./nearest.js";
import { MASK, shownValue } from "./secret.js";
import { settingsWithout } from "./setting.js";
import type { ComponentBlock } from "./surroundings.js";

export interface KnownNames {
  readonly definition: AnyPlugin;
  readonly block: ComponentBlock;
  /** Names that the kernel reads, to suggest them for a misspelt key. */
  readonly kernelNames: readonly string[];
}

/** A warning for each line of a component that nobody reads. */
export function unknownSettings(
  { definition, block, kernelNames }: KnownNames,
  catalogue: PluginCatalogue,
): readonly Fault[] {
  const { config, slots = {}, kind, type } = definition;
  const maps = Object.keys(config)
    .filter((name) => config[name]?.format === "map")
    .map(mapPrefix);
  const known = [...Object.keys(config), ...kernelNames, ...slotNames(slots, catalogue)];
  return [...settingsWithout(block.settings, Object.keys(config), maps)].map(([name, { key, value, line }]) => {
    const meant = nearest(name, known);
    const secret = meant !== undefined && config[meant]?.sensitive === true;
    const place = { key, value: secret ? MASK : shownValue(name, value), line, nearest: meant };
    return warningAt(place, `is not a property of the ${kind} "${type}" and has no effect`);
  });
}

/** The slots and, below each, the properties of every plugin that could fill it. */
function slotNames(slots: Slots, catalogue: PluginCatalogue): readonly string[] {
  return Object.entries(slots).flatMap(([slot, kind]) => [
    slot,
    ...catalogue
      .list()
      .filter(({ definition }) => definition.kind === kind)
      .flatMap(({ definition }) => Object.keys(definition.config).map((name) => `${slot}.${name}`)),
  ]);
}
