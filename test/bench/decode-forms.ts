import type { NgsiVersion } from "../../core/ngsi/index.js";
import { brokerPrinted } from "./broker-printed.js";
import { concise, type Json, ld, normalized, subAttributes, v2, v2Normalized, values } from "./decode-devices.js";

/** One way in which notifications are written, with bodies that differ in ids and values. */
export interface DecodeForm {
  readonly name: string;
  readonly version: NgsiVersion;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether it is one that brokers send day by day, which the target of equal cost is about. */
  readonly isCommon: boolean;
  readonly bodies: readonly string[];
}

interface Maker {
  readonly version?: NgsiVersion;
  readonly headers?: Readonly<Record<string, string>>;
  readonly isCommon?: boolean;
  /** Distinct bodies; fewer where they are large. */
  readonly count?: number;
  body(index: number): string;
}

/** All forms. */
export function decodeForms(): readonly DecodeForm[] {
  return Object.entries(makers).map((maker, at) => withSubscription(formOf(maker), at));
}

/** Bodies of about 1 KB to 10 MB: more and more entities in three forms. */
export function growingForms(): readonly DecodeForm[] {
  return [1, 10, 100, 1000, 10_000].flatMap((entities) => {
    const count = Math.max(1, Math.min(BODIES, 1000 / entities));
    const named = (name: string, maker: Maker) => formOf([`${name}, entities: ${entities}`, { ...maker, count }]);
    return [
      named("LD compact", { body: (index) => JSON.stringify(ld(index, normalized, entities)) }),
      named("LD as Scorpio prints it", { body: (index) => brokerPrinted(ld(index, normalized, entities)) }),
      named("v2 normalized", { ...ofV2, body: (index) => JSON.stringify(v2(index, v2Normalized, entities)) }),
    ];
  });
}

function formOf([name, maker]: readonly [string, Maker]): DecodeForm {
  const { version = "ld", headers = {}, isCommon = false, count = BODIES } = maker;
  return { name, version, headers, isCommon, bodies: Array.from({ length: count }, (_, index) => maker.body(index)) };
}

/** With a subscription of its own: forms are known by subscription. */
function withSubscription(form: DecodeForm, at: number): DecodeForm {
  const own = String(at).padStart(4, "0");
  return {
    ...form,
    bodies: form.bodies.map((body) => body.replace(/("subscriptionId" ?: ?"[^"]+)[^"]{4}"/, `$1${own}"`)),
  };
}

const BODIES = 50;

const property = (value: unknown): Json => ({ type: "Property", value });

const nested = (levels: number, index: number): unknown =>
  levels === 0 ? [index, "the innermost"] : { level: levels, inner: nested(levels - 1, index) };

/** Texts in which the placeholder, which is JSON text, stands where a number is to have other digits than JavaScript's. */
function withDigits(json: Json, digits: (index: number) => string): string {
  let index = 0;
  return JSON.stringify(json).replaceAll('"#"', () => digits(index++));
}

const sentence = "Die Messstelle am Südtor meldet 12 °C; 世界 🌍. ";
const compact = { isCommon: true };
const ofV2 = { version: "v2", headers: { "ngsiv2-attrsformat": "normalized" } } as const;

const makers: Readonly<Record<string, Maker>> = {
  "LD compact": { ...compact, body: (index) => JSON.stringify(ld(index, normalized)) },
  "LD as Scorpio prints it": { ...compact, body: (index) => brokerPrinted(ld(index, normalized)) },
  "LD with sub-attributes": { ...compact, body: (index) => JSON.stringify(ld(index, subAttributes)) },
  "LD with sub-attributes, as Scorpio prints it": {
    ...compact,
    body: (index) => brokerPrinted(ld(index, subAttributes)),
  },
  "LD concise": { ...compact, body: (index) => JSON.stringify(ld(index, concise)) },
  "LD keyValues": {
    ...compact,
    headers: { "ngsild-attribute-format": "simplified" },
    body: (index) => JSON.stringify(ld(index, values)),
  },
  "LD, 10 entities": { ...compact, body: (index) => JSON.stringify(ld(index, normalized, 10)) },
  "LD, 100 entities": { ...compact, count: 5, body: (index) => JSON.stringify(ld(index, normalized, 100)) },
  "LD, 100 entities, as Scorpio prints it": {
    ...compact,
    count: 5,
    body: (index) => brokerPrinted(ld(index, normalized, 100)),
  },
  "v2 normalized with metadata": { ...ofV2, ...compact, body: (index) => JSON.stringify(v2(index, v2Normalized)) },
  "v2 normalized, pretty": { ...ofV2, ...compact, body: (index) => JSON.stringify(v2(index, v2Normalized), null, 2) },
  "v2 keyValues": {
    ...compact,
    version: "v2",
    headers: { "ngsiv2-attrsformat": "keyValues" },
    body: (index) => JSON.stringify(v2(index, values)),
  },
  "v2 read as auto": {
    ...compact,
    version: "auto",
    headers: ofV2.headers,
    body: (index) => JSON.stringify(v2(index, v2Normalized)),
  },
  "LD read as auto": { ...compact, version: "auto", body: (index) => JSON.stringify(ld(index, normalized)) },
  "LD, long texts": {
    body: (index) => JSON.stringify(ld(index, () => ({ note: property("a plain text of one part, ".repeat(400)) }))),
  },
  "LD, texts with escaped quotes and line breaks": {
    body: (index) => JSON.stringify(ld(index, () => ({ note: property('He said "ab\\cd"\n'.repeat(250)) }))),
  },
  "LD, texts with \\u": {
    body: (index) =>
      JSON.stringify(ld(index, () => ({ note: property(sentence.repeat(80)) }))).replace(
        /[^ -~]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
      ),
  },
  "LD, texts beyond ASCII": {
    body: (index) => JSON.stringify(ld(index, () => ({ note: property(sentence.repeat(80)) }))),
  },
  "LD compact, one text beyond ASCII": {
    body: (index) => JSON.stringify(ld(index, (at) => ({ ...normalized(at), city: property("Küche 世界 🌍") }))),
  },
  "LD compact, one integer beyond 2^53": {
    body: (index) =>
      withDigits(
        ld(index, (at) => ({ ...normalized(at), big: property("#") })),
        () => `${9007199254740993n + BigInt(index)}`,
      ),
  },
  "LD compact, coordinates of 17 digits": {
    body: (index) =>
      JSON.stringify(
        ld(index, (at) => ({
          ...normalized(at),
          location: {
            type: "GeoProperty",
            value: { type: "Point", coordinates: [-3.8037894999999997, 41.20000000000001] },
          },
        })),
      ),
  },
  "v2 normalized, one number 23.0": {
    ...ofV2,
    body: (index) =>
      withDigits(
        v2(index, (at) => ({ ...v2Normalized(at), level: { type: "Number", value: "#", metadata: {} } })),
        () => `${index}.0`,
      ),
  },
  "v2 normalized, one exponent": {
    ...ofV2,
    body: (index) =>
      withDigits(
        v2(index, (at) => ({ ...v2Normalized(at), level: { type: "Number", value: "#", metadata: {} } })),
        () => `${index + 1}e-9`,
      ),
  },
  "LD, 500 numbers of 20 digits": {
    count: 5,
    body: (index) =>
      withDigits(
        ld(index, () => ({ list: property(Array.from({ length: 500 }, () => "#")) })),
        (at) => `${12345678901234567890n + BigInt(at)}`,
      ),
  },
  "LD, nested 400 levels": {
    count: 10,
    body: (index) => JSON.stringify(ld(index, () => ({ deep: property(nested(400, index)) }))),
  },
  "LD, 1 MB of coordinates": {
    count: 2,
    body: (index) => JSON.stringify(ld(index, () => ({ track: property(coordinates(30_000, index)) }))),
  },
  "LD, 1 MB of coordinates of 17 digits": {
    count: 2,
    body: (index) => JSON.stringify(ld(index, () => ({ track: property(coordinates(25_000, index / 3)) }))),
  },
  "v2, 1 MB of coordinates": {
    ...ofV2,
    count: 2,
    body: (index) =>
      JSON.stringify(
        v2(index, () => ({ track: { type: "geo:json", value: coordinates(30_000, index), metadata: {} } })),
      ),
  },
};

function coordinates(count: number, shift: number): Json {
  const digits = Number.isInteger(shift) ? 1e6 : 1e20;
  const round = (value: number): number => (digits === 1e6 ? Math.round(value * digits) / digits : value / 3);
  return {
    type: "LineString",
    coordinates: Array.from({ length: count }, (_, at) => [
      round(-8.5 + shift + at * 0.000123456789),
      round(41.2 + shift + at * 0.000213456789),
    ]),
  };
}
