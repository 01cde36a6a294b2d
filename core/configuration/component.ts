import type { AnyPlugin, Schema, Slots } from "../sdk/index.js";
import { readSettings, type SettingsReading } from "./component-settings.js";
import { componentType, type TypeSetting, typeName } from "./component-type.js";
import type { Fault } from "./fault.js";
import { errorAt, startable } from "./fault-at.js";
import { type Resource, resourcesOf } from "./resources.js";
import { respelled } from "./respelling.js";
import { settingsBelow, settingsWithout } from "./setting.js";
import type { ComponentBlock, Reading, Surroundings } from "./surroundings.js";
import type { ComponentNode } from "./topology.js";
import { unknownSettings } from "./unknown-settings.js";

/** A component of the file: who it is, what it is and its lines, those that the kernel reads itself taken out. */
export interface ComponentInput {
  readonly block: ComponentBlock;
  readonly type: TypeSetting;
  /** Names that the kernel reads, to suggest them for a misspelt key. */
  readonly kernelNames: readonly string[];
  /** What the component chooses among, for its check; absent where nothing or not known. */
  readonly linked?: readonly string[] | undefined;
}

export interface ComponentReading extends Reading<ComponentNode> {
  /** What it needs for itself, with that of the components in its slots. */
  readonly resources: readonly Resource[];
}

/** Reads a component with the components nested in its slots. */
export function readComponent(
  { block, type, kernelNames, linked }: ComponentInput,
  surroundings: Surroundings,
): ComponentReading {
  const { value: definition, faults } = componentType(type, surroundings);
  if (definition === undefined) return { value: undefined, faults, resources: [] };
  const slots = readSlots(definition.slots ?? {}, block, surroundings);
  const names = Object.keys(definition.slots ?? {});
  const asWritten = { ...block, settings: settingsWithout(block.settings, names, names) };
  const spelt = { definition, typeName: typeName(type, surroundings), schema: definition.config, block: asWritten };
  const { block: own, faults: spelling } = respelled(spelt, surroundings);
  const read = readSettings(definition.config, own, surroundings);
  const all = [
    ...faults,
    ...spelling,
    ...slots.faults,
    ...read.faults,
    ...unknownSettings({ definition, block: own, kernelNames }, surroundings.catalogue),
    ...checkFaults({ definition, block: own, type, linked }, read),
  ];
  const resources = [...resourcesOf(definition.config, own, read), ...slots.resources];
  if (read.config === undefined || slots.value === undefined || !startable(all))
    return { value: undefined, faults: all, resources };
  return { value: { name: block.name, definition, config: read.config, slots: slots.value }, faults: all, resources };
}

function readSlots(
  slots: Slots,
  block: ComponentBlock,
  surroundings: Surroundings,
): Reading<Readonly<Record<string, ComponentNode>>> & Pick<ComponentReading, "resources"> {
  const readings = Object.entries(slots).map(([slot, kind]) => {
    const key = `${block.key}.${slot}`;
    const setting = block.settings.get(slot);
    const nested = { name: slot, key, line: block.line, settings: settingsBelow(block.settings, slot) };
    const type = { kind, key, setting, line: block.line };
    return { slot, ...readComponent({ block: nested, type, kernelNames: [] }, surroundings) };
  });
  const nodes = readings.flatMap(({ slot, value }) => (value === undefined ? [] : [[slot, value] as const]));
  return {
    value: nodes.length === readings.length ? Object.fromEntries(nodes) : undefined,
    faults: readings.flatMap(({ faults }) => faults),
    resources: readings.flatMap(({ resources }) => resources),
  };
}

interface Checked extends Pick<ComponentInput, "block" | "type" | "linked"> {
  readonly definition: AnyPlugin;
}

/** Asks the definition only when each value by itself is right: its check relies on their types. */
function checkFaults(
  { definition, block, type, linked }: Checked,
  { config, places }: SettingsReading<Schema>,
): readonly Fault[] {
  if (config === undefined || definition.check === undefined) return [];
  const placeOf = (property: string) => {
    const given = places.get(property);
    if (given !== undefined) return given;
    const line = property === "type" ? type.setting?.line : block.settings.get(property)?.line;
    return { key: `${block.key}.${property}`, line: line ?? block.line };
  };
  try {
    return definition.check(config, linked).map(({ property, reason }) => errorAt(placeOf(property), reason));
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    const reason = `could not be checked by the plugin ${definition.kind} "${definition.type}": ${message}`;
    return [errorAt({ key: block.key, line: block.line }, reason)];
  }
}
