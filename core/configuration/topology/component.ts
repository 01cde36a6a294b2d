import { messageOf } from "../../sdk/causes.js";
import type { AnyPlugin, Property, Schema, Slots } from "../../sdk/index.js";
import {
  type ConfigurationFault,
  type Environment,
  errorAt,
  type Location,
  nearest,
  type Reading,
  startable,
  warningAt,
} from "../configuration-fault.js";
import { type ComponentBlock, settingsBelow, settingsWithout } from "../file/settings.js";
import { readSettings, type SettingsReading } from "../schema/component-settings.js";
import { respelled } from "../schema/respelling.js";
import { unknownSettings } from "../schema/unknown-settings.js";
import type { ComponentNode } from "../topology.js";
import { componentType, type TypeSetting, typeName } from "./component-type.js";
import { permissionFaults } from "./permission-faults.js";

/** A component of the file: its name, its type and its lines, without those that the kernel reads itself. */
interface ComponentInput {
  readonly block: ComponentBlock;
  readonly type: TypeSetting;
  /** Names that the kernel reads, to suggest them for a misspelt key. */
  readonly kernelNames: readonly string[];
  /** The names that the component chooses from, for its check; absent where there are none or they are unknown. */
  readonly linked?: readonly string[] | undefined;
}

export interface ComponentReading extends Reading<ComponentNode> {
  /** The resources of the component and of the components in its slots. */
  readonly resources: readonly Resource[];
}

/** Reads a component with the components nested in its slots. */
export function readComponent(
  { block, type, kernelNames, linked }: ComponentInput,
  environment: Environment,
): ComponentReading {
  const { value: definition, faults } = componentType(type, block, environment);
  if (definition === undefined) return { value: undefined, faults, resources: [] };
  const slots = readSlots(definition.slots ?? {}, block, environment);
  const names = Object.keys(definition.slots ?? {});
  const asWritten = { ...block, settings: settingsWithout(block.settings, names, names) };
  const spelt = { definition, typeName: typeName(type, environment), schema: definition.config, block: asWritten };
  const { block: own, faults: spelling } = respelled(spelt, environment);
  const read = readSettings(definition.config, own, environment);
  const all = [
    ...faults,
    ...spelling,
    ...slots.faults,
    ...read.faults,
    ...unknownSettings({ definition, block: own, kernelNames }, environment.catalogue),
    ...permissionFaults(definition, own, read),
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
  environment: Environment,
): Reading<Readonly<Record<string, ComponentNode>>> & Pick<ComponentReading, "resources"> {
  const readings = Object.entries(slots).map(([slot, kind]) => {
    const key = `${block.key}.${slot}`;
    const setting = block.settings.get(slot);
    const nested = { name: slot, key, line: block.line, settings: settingsBelow(block.settings, slot) };
    const type = { kind, key, setting, line: block.line };
    return { slot, ...readComponent({ block: nested, type, kernelNames: [] }, environment) };
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

/** The check of the plugin, called only when each value is valid by itself: it relies on their types. */
function checkFaults(
  { definition, block, type, linked }: Checked,
  { config, locations }: SettingsReading<Schema>,
): readonly ConfigurationFault[] {
  if (config === undefined || definition.check === undefined) return [];
  const locationOf = (property: string) => {
    const given = locations.get(property);
    if (given !== undefined) return given;
    const line = property === "type" ? type.setting?.line : block.settings.get(property)?.line;
    return { key: `${block.key}.${property}`, line: line ?? block.line };
  };
  try {
    return definition.check(config, linked).map(({ property, reason, severity, names = [] }) => {
      const location = locationOf(property);
      const given = Reflect.get(config, property);
      const isDefault = typeof given === "number" && !locations.has(property);
      const faultAt = severity === "warning" ? warningAt : errorAt;
      return faultAt(
        { ...location, nearest: typeof given === "string" ? nearest(given, names) : undefined },
        isDefault ? `${reason}; it is not set, and ${given} by default` : reason,
      );
    });
  } catch (cause) {
    const reason = `could not be checked by the plugin ${definition.kind} "${definition.type}": ${messageOf(cause)}`;
    return [errorAt({ key: block.key, line: block.line }, reason)];
  }
}

/** Something outside the program that a component uses, as declared in its schema. */
export interface Resource {
  readonly kind: Exclude<NonNullable<Property["resource"]>, "host">;
  /** The key of the component, for example `a1.sources.s`. */
  readonly owner: string;
  readonly value: unknown;
  /** Of a port: the address that is listened on; undefined where the schema names none. */
  readonly host: string | undefined;
  readonly location: Location;
}

/** The resources of one component, those at their defaults included. */
function resourcesOf(
  schema: Schema,
  { key, line }: ComponentBlock,
  { values, locations }: SettingsReading<Schema>,
): readonly Resource[] {
  const hostName = Object.keys(schema).find((name) => schema[name]?.resource === "host");
  const host = hostName === undefined ? undefined : values.get(hostName);
  return Object.entries(schema).flatMap(([name, { resource }]) => {
    const value = values.get(name);
    if (resource === undefined || resource === "host" || value === undefined) return [];
    const location = locations.get(name) ?? { key: `${key}.${name}`, value: String(value), line };
    return [{ kind: resource, owner: key, value, host: typeof host === "string" ? host : undefined, location }];
  });
}
