import { isGeometry } from "../decode/ld-attribute.js";
import type { Attribute, Value } from "../model.js";

/**
 * Which coordinate is x where NGSI v2 writes a position as a text such as `40.4, -3.7`: it writes the latitude first.
 * GeoJSON has the longitude first, and x is the longitude there.
 * @stable
 */
export type GeometryX = "longitude" | "latitude";

/**
 * The geometry of an attribute as GeoJSON text; undefined if the attribute has none. The type of an attribute says that
 * its value is a geometry, and a simplified value shows it. A value that is no geometry although the type says so is
 * returned unchanged; GeoJSON is not checked.
 * @stable
 */
export function geometryText(attribute: Attribute, x: GeometryX): string | undefined {
  const { value } = attribute;
  if (value.kind === "null" || !isGeometryAttribute(attribute)) return undefined;
  return writers[attribute.type ?? ""]?.(value, x) ?? value.text;
}

/** Whether the value of the attribute is meant to be a geometry, also if it is null. @stable */
export function isGeometryAttribute({ type, value: { kind, text } }: Attribute): boolean {
  if (type !== undefined) return geometryTypes.has(type);
  return kind === "object" && GEOMETRY.test(text) && isGeometry(JSON.parse(text));
}

const geometryTypes: ReadonlySet<string> = new Set([
  "GeoProperty",
  "geo:json",
  "geo:point",
  "geo:line",
  "geo:box",
  "geo:polygon",
]);

/** A quick check that spares parsing most values. */
const GEOMETRY = /"(?:coordinates|geometries)":\[/;

/** Undefined for a value that is not of that form. */
type Write = (value: Value, x: GeometryX) => string | undefined;

const writers: Readonly<Record<string, Write>> = {
  "geo:point": ({ kind, text }, x) => {
    const position = kind === "string" ? positionOf(text, x) : undefined;
    return position === undefined ? undefined : `{"type":"Point","coordinates":${position}}`;
  },
  "geo:line": (value, x) => {
    const positions = positionsOf(value, x);
    return positions === undefined ? undefined : `{"type":"LineString","coordinates":[${positions.join(",")}]}`;
  },
  "geo:box": (value, x) => {
    const [one, other, ...more] = cornersOf(value, x);
    if (one === undefined || other === undefined || more.length > 0) return undefined;
    const [left, right] = ordered(one.x, other.x);
    const [low, high] = ordered(one.y, other.y);
    const ring = `[${left},${low}],[${right},${low}],[${right},${high}],[${left},${high}],[${left},${low}]`;
    return `{"type":"Polygon","coordinates":[[${ring}]]}`;
  },
  "geo:polygon": (value, x) => {
    const positions = positionsOf(value, x);
    return positions === undefined ? undefined : `{"type":"Polygon","coordinates":[[${positions.join(",")}]]}`;
  },
};

interface Corner {
  readonly x: number;
  readonly y: number;
}

function cornersOf(value: Value, x: GeometryX): readonly Corner[] {
  return (
    textsOf(value)?.flatMap((text) => {
      const [first, second] = numbersOf(text) ?? [];
      if (first === undefined || second === undefined) return [];
      return [x === "latitude" ? { x: first, y: second } : { x: second, y: first }];
    }) ?? []
  );
}

function ordered(one: number, other: number): readonly [number, number] {
  return one <= other ? [one, other] : [other, one];
}

function positionsOf(value: Value, x: GeometryX): readonly string[] | undefined {
  const positions = textsOf(value)?.map((text) => positionOf(text, x));
  return positions?.every((position) => position !== undefined) ? positions : undefined;
}

function textsOf({ kind, text }: Value): readonly string[] | undefined {
  if (kind !== "array") return undefined;
  const list: unknown = JSON.parse(text);
  return Array.isArray(list) && list.every((item) => typeof item === "string") ? list : undefined;
}

function positionOf(text: string, x: GeometryX): string | undefined {
  const numbers = numbersOf(text);
  if (numbers === undefined) return undefined;
  const [first, second] = numbers;
  return x === "latitude" ? `[${first},${second}]` : `[${second},${first}]`;
}

const NUMBER = "\\s*([+-]?(?:\\d+(?:\\.\\d*)?|\\.\\d+)(?:[eE][+-]?\\d+)?)\\s*";
const PAIR = new RegExp(`^${NUMBER},${NUMBER}$`);

function numbersOf(text: string): readonly [number, number] | undefined {
  const [, first, second] = PAIR.exec(text) ?? [];
  if (first === undefined || second === undefined) return undefined;
  const numbers = [Number(first), Number(second)] as const;
  return numbers.every(Number.isFinite) ? numbers : undefined;
}
