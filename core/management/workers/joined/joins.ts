import type { Json, JsonObject } from "../../../agent/live/merge-patch.js";
import { isObject, listIn, numberIn, objectsIn, textIn } from "../json.js";

/** Makes one value of those that workers gave, in their order; there is at least one. */
export type Join = (values: readonly Json[]) => Json | undefined;

export const first: Join = ([value]) => value;

export const sum: Join = (values) => {
  const total = values.reduce<number>((before, value) => before + numberIn(value), 0);
  // Without what adding fractions leaves behind their last digit.
  return Number.isInteger(total) ? total : Number(total.toPrecision(15));
};

export const largest: Join = (values) => Math.max(...values.map(numberIn));

export const least: Join = (values) => Math.min(...values.map(numberIn));

/** Of texts such as times: the one that is before all others. */
export const earliest: Join = (values) => values.map(textIn).toSorted()[0];

export const latest: Join = (values) => values.map(textIn).toSorted().at(-1);

export const every: Join = (values) => values.every((value) => value === true);

export const some: Join = (values) => values.includes(true);

/** All items of all lists. */
export const all: Join = (values) => values.flatMap(listIn);

/** The value that stands first in a list that begins with the worst. */
export function worst(order: readonly string[]): Join {
  return (values) => order.find((one) => values.includes(one)) ?? values[0];
}

/** Numbers are summed, objects member by member, everything else is that of the first. */
export const usual: Join = (values) => {
  const [value] = values;
  if (typeof value === "number") return sum(values);
  return isObject(value) ? members({})(values) : value;
};

/** Objects member by member: those of the table by their join, the others by `otherwise`. */
export function members(joins: Readonly<Record<string, Join>>, otherwise: Join = usual) {
  return (values: readonly Json[]): JsonObject => {
    const objects = values.filter(isObject);
    const names = new Set(objects.flatMap((one) => Object.keys(one)));
    return Object.fromEntries(
      [...names].map((name) => {
        const given = objects.map((one) => one[name]).filter(isGiven);
        return [name, given.length === 0 ? undefined : (joins[name] ?? otherwise)(given)];
      }),
    );
  };
}

function isGiven(value: Json | undefined): value is Json {
  return value !== undefined;
}

/** Lists of objects: those with the same values of these members become one, in the order of their first. */
export function listBy(keys: readonly string[], join: Join): Join {
  return (values) => {
    const groups = new Map<string, JsonObject[]>();
    for (const object of values.flatMap(objectsIn)) {
      const key = JSON.stringify(keys.map((name) => object[name]));
      const group = groups.get(key) ?? [];
      groups.set(key, group);
      group.push(object);
    }
    return [...groups.values()].map((group) => join(group)).filter(isGiven);
  };
}

/** The first few of a list, those with the highest number before. */
export function highest(most: number, member: string, join: Join): Join {
  return (values) =>
    objectsIn(join(values))
      .toSorted((one, other) => numberIn(other[member]) - numberIn(one[member]))
      .slice(0, most);
}

/** With the members of that object in place of the merged ones: what belongs together comes from one. */
export function together(merged: JsonObject, names: readonly string[], from: JsonObject | undefined): JsonObject {
  const others = Object.entries(merged).filter(([name]) => !names.includes(name));
  const taken = names.map((name) => [name, from?.[name]] as const);
  return Object.fromEntries([...others, ...taken.filter(([, value]) => value !== undefined)]);
}
