/**
 * The geometry of a GeoJSON text in the input form that PostGIS reads fastest: EWKB in hexadecimal, with SRID 4326. It
 * reads 300,000 points of it in less than 0.1 s, of EWKT in 1.4 s, of GeoJSON in 2.7 s. Undefined for a text that is no
 * geometry. With two dimensions heights are omitted; with three they are kept, 0 where only other positions have one.
 */
export function geometryHex(text: string, dimensions: 2 | 3): string | undefined {
  const [, x, y] = POINT.exec(text) ?? [];
  if (x !== undefined && y !== undefined) return plainPoint(Number(x), Number(y));
  const geometry = geometryOf(parsed(text), 0);
  if (geometry === undefined) return undefined;
  const hasHeight = dimensions === 3 && isHigh(geometry);
  const { code, body } = encoded(geometry, hasHeight);
  return `01${uint32((code | SRID_FLAG) >>> 0)}${uint32(SRID)}${body}`;
}

const SRID = 4326;
const SRID_FLAG = 0x20000000;
const HEIGHT_FLAG = 0x80000000;
/** PostGIS reads collections in collections up to 200 levels deep. */
const DEEPEST = 100;

// The usual value. Numbers are short enough to be finite.
const POINT = /^\{"type":"Point","coordinates":\[(-?\d{1,20}(?:\.\d{1,30})?),(-?\d{1,20}(?:\.\d{1,30})?)\]\}$/;

const scratch = Buffer.alloc(16);

function plainPoint(x: number, y: number): string {
  scratch.writeDoubleLE(x, 0);
  scratch.writeDoubleLE(y, 8);
  return `0101000020e6100000${scratch.toString("hex")}`;
}

type Position = readonly number[];

/** A geometry by its code in WKB: a list of positions for each part of a simple one. */
interface Simple {
  readonly code: 1 | 2 | 3;
  readonly parts: readonly (readonly Position[])[];
}

interface Collection {
  readonly code: 4 | 5 | 6 | 7;
  readonly members: readonly Geometry[];
}

type Geometry = Simple | Collection;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function geometryOf(json: unknown, depth: number): Geometry | undefined {
  if (typeof json !== "object" || json === null || !("type" in json) || depth > DEEPEST) return undefined;
  if ("crs" in json && !isWgs84(json.crs)) return undefined;
  if (json.type === "GeometryCollection") {
    return "geometries" in json ? collection(7, json.geometries, (one) => geometryOf(one, depth + 1)) : undefined;
  }
  const read = typeof json.type === "string" ? readers.get(json.type) : undefined;
  return "coordinates" in json ? read?.(json.coordinates) : undefined;
}

/** GeoJSON from before 2016 names its reference system. */
function isWgs84(crs: unknown): boolean {
  return crs === null || /(?:4326|CRS84)"/.test(JSON.stringify(crs));
}

const readers: ReadonlyMap<string, (json: unknown) => Geometry | undefined> = new Map<
  string,
  (json: unknown) => Geometry | undefined
>([
  ["Point", point],
  ["LineString", lineString],
  ["Polygon", polygon],
  ["MultiPoint", (json: unknown) => collection(4, json, point)],
  ["MultiLineString", (json: unknown) => collection(5, json, lineString)],
  ["MultiPolygon", (json: unknown) => collection(6, json, polygon)],
]);

function point(json: unknown): Simple | undefined {
  return isPosition(json) ? { code: 1, parts: [[json]] } : undefined;
}

function lineString(json: unknown): Simple | undefined {
  return isLine(json, 2) ? { code: 2, parts: [json] } : undefined;
}

function polygon(json: unknown): Simple | undefined {
  return isList(json) && json.length > 0 && json.every(isRing) ? { code: 3, parts: json } : undefined;
}

function collection(
  code: Collection["code"],
  json: unknown,
  read: (json: unknown) => Geometry | undefined,
): Collection | undefined {
  if (!isList(json) || json.length === 0) return undefined;
  const members = json.map(read);
  return members.every((member) => member !== undefined) ? { code, members } : undefined;
}

function isList(json: unknown): json is readonly unknown[] {
  return Array.isArray(json);
}

// By hand: `every` takes three times as long.
function isPosition(json: unknown): json is Position {
  if (!isList(json) || !Number.isFinite(json[0]) || !Number.isFinite(json[1])) return false;
  return json.length === 2 || (json.length === 3 && Number.isFinite(json[2]));
}

function isLine(json: unknown, least: number): json is readonly Position[] {
  if (!isList(json) || json.length < least) return false;
  for (const item of json) if (!isPosition(item)) return false;
  return true;
}

/** Four positions or more, of which the last is the first. */
function isRing(json: unknown): json is readonly Position[] {
  if (!isLine(json, 4)) return false;
  const [first, last] = [json[0], json.at(-1)];
  return first?.[0] === last?.[0] && first?.[1] === last?.[1];
}

function isHigh(geometry: Geometry): boolean {
  if ("members" in geometry) return geometry.members.some(isHigh);
  return geometry.parts.some((positions) => positions.some(({ length }) => length === 3));
}

interface Encoded {
  readonly code: number;
  readonly body: string;
}

function encoded(geometry: Geometry, hasHeight: boolean): Encoded {
  const code = hasHeight ? geometry.code | HEIGHT_FLAG : geometry.code;
  if ("members" in geometry) {
    const members = geometry.members.map((member) => {
      const { code: own, body } = encoded(member, hasHeight);
      return `01${uint32(own >>> 0)}${body}`;
    });
    return { code, body: uint32(members.length) + members.join("") };
  }
  const parts = geometry.parts.map((positions) => ({
    count: uint32(positions.length),
    text: doubles(positions, hasHeight),
  }));
  if (geometry.code === 1) return { code, body: parts.map(({ text }) => text).join("") };
  const lists = parts.map(({ count, text }) => count + text).join("");
  return { code, body: geometry.code === 3 ? uint32(parts.length) + lists : lists };
}

function doubles(positions: readonly Position[], hasHeight: boolean): string {
  const bytes = Buffer.allocUnsafe(positions.length * (hasHeight ? 24 : 16));
  let at = 0;
  for (const position of positions) {
    at = bytes.writeDoubleLE(position[0] ?? 0, at);
    at = bytes.writeDoubleLE(position[1] ?? 0, at);
    if (hasHeight) at = bytes.writeDoubleLE(position[2] ?? 0, at);
  }
  return bytes.toString("hex");
}

function uint32(number: number): string {
  scratch.writeUInt32LE(number, 0);
  return scratch.toString("hex", 0, 4);
}
