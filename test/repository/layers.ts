import { dirname, join, normalize } from "node:path/posix";

/** A folder (or file) of core, the row it stands in, and the packages that are at home there. */
interface Room {
  readonly paths: readonly string[];
  readonly row: number;
  readonly packages: readonly string[];
  /** The only folders it imports from; absent: all in rows below its own. */
  readonly imports?: readonly string[];
  /** The only Node modules allowed there; absent: all. */
  readonly builtins?: readonly string[];
}

/** The folders of core/sql: each imports from those before it, none from the sink over them. */
const sqlFolders = ["contract", "rows", "tables", "features"].map((folder) => `core/sql/${folder}`);

function sqlRoom(path: string, below: readonly string[]): Room {
  const builtins = ["node:crypto", "node:timers/promises"];
  return { paths: [path], row: 2, packages: [], builtins, imports: ["core/sdk", "core/ngsi", ...below] };
}

export const rooms: readonly Room[] = [
  {
    paths: ["core/cli", "core/process.ts"],
    row: 6,
    packages: ["commander", "cli-table3", "hyparquet-writer", "tsyringe", "reflect-metadata"],
  },
  // Chooses which copy of the program is loaded, so it imports none of it before.
  { paths: ["core/entry"], row: 7, packages: [], imports: ["core/process.ts"] },
  // Modules for browsers: none of the agent, and nothing of Node.
  { paths: ["core/management/page/browser"], row: 1, packages: ["preact"], builtins: [] },
  { paths: ["core/management"], row: 5, packages: ["express"] },
  { paths: ["core/testing"], row: 4, packages: [] },
  { paths: ["core/embedded"], row: 5, packages: [] },
  { paths: ["core/agent"], row: 4, packages: ["tsyringe", "reflect-metadata"] },
  { paths: ["core/configuration"], row: 3, packages: ["convict", "properties-file", "fastest-levenshtein"] },
  { paths: ["core/registry"], row: 3, packages: ["glob"] },
  { paths: ["core/pipeline"], row: 3, packages: [] },
  { paths: ["core/metrics"], row: 3, packages: ["prom-client"] },
  { paths: ["core/logging"], row: 3, packages: ["pino", "pino-pretty"] },
  {
    paths: ["core/tracing"],
    row: 3,
    packages: [
      "@opentelemetry/api",
      "@opentelemetry/exporter-trace-otlp-proto",
      "@opentelemetry/resources",
      "@opentelemetry/sdk-trace-base",
    ],
  },
  { paths: ["core/tokens.ts"], row: 2, packages: ["tsyringe"], builtins: [] },
  {
    paths: ["core/ngsi"],
    row: 2,
    packages: ["re2js"],
    builtins: ["node:buffer", "node:crypto", "node:util"],
  },
  ...sqlFolders.map((path, index) => sqlRoom(path, sqlFolders.slice(0, index))),
  sqlRoom("core/sql/standard", ["core/sql/contract"]),
  sqlRoom("core/sql", [...sqlFolders, "core/sql/standard"]),
  { paths: ["core/log"], row: 2, packages: [], builtins: ["node:crypto", "node:buffer"], imports: ["core/sdk"] },
  { paths: ["core/files"], row: 2, packages: ["libsql"] },
  // Both for what PEM texts hold: nothing is opened.
  { paths: ["core/sdk"], row: 1, packages: [], builtins: ["node:crypto", "node:tls"] },
];

/** The driver packages of the plugins that have some. */
export const drivers: Readonly<Record<string, readonly string[]>> = {
  "plugins/jetstream": ["@nats-io/transport-node", "@nats-io/jetstream"],
  "plugins/kafka": ["@platformatic/kafka"],
  "plugins/mqtt-source": ["mqtt"],
  "plugins/rdb-sink": ["pg", "mysql2", "libsql"],
};

/** Rooms inside a plugin, and the one file of each that the rest of the plugin imports. */
const doors: readonly { readonly room: string; readonly door: string }[] = [
  { room: "plugins/http-source/head-reader/", door: "plugins/http-source/head-reader/head-reader.js" },
];

/** Rooms whose folders stand over the files beside them, and the files that stand over both. */
const upperFolders: readonly { readonly room: string; readonly over: readonly string[] }[] = [
  { room: "core/agent", over: ["core/agent/container.ts"] },
];

/** What a plugin may import of ours. */
const contract = new Set(["deneb/sdk", "deneb/sdk/channel", "deneb/ngsi", "deneb/sql", "deneb/log"]);

/** What is wrong with the imports of one file of core or plugins; `path` is written from the top folder. */
export function layerFaults(path: string, text: string): readonly string[] {
  const judge = path.startsWith("plugins/") ? pluginFault : coreFault;
  return importsOf(ownText(path, text))
    .map((specifier) => judge(path, specifier))
    .filter((fault) => fault !== undefined)
    .map((fault) => `${path}: ${fault}`);
}

/** The files of each circle in which files import each other, types included and late imports not; `texts` by their path from the top folder. */
export function importCircles(texts: ReadonlyMap<string, string>): readonly (readonly string[])[] {
  const ended = new Set<string>();
  const circles: (readonly string[])[] = [];
  const follow = (path: string, way: readonly string[]): void => {
    const text = texts.get(path);
    if (way.includes(path)) return void circles.push(way.slice(way.indexOf(path)));
    if (text === undefined || ended.has(path)) return;
    const relative = importsOf(ownText(path, text), EARLY).filter((specifier) => specifier.startsWith("."));
    for (const specifier of relative) follow(targetOf(path, specifier), [...way, path]);
    ended.add(path);
  };
  for (const path of texts.keys()) follow(path, []);
  return circles;
}

/** The scaffold holds the texts of other packages, with their imports, behind its own. */
function ownText(path: string, text: string): string {
  return path.startsWith("core/cli/scaffold/") ? text.split("`", 1).join() : text;
}

function targetOf(path: string, specifier: string): string {
  return normalize(join(dirname(path), specifier.replace(/\.js$/, ".ts")));
}

const EARLY = [/\b(?:import|export)\s+(?:type\s+)?[\w*{][^;"]*?\bfrom\s+"([^"]+)"/g, /\bimport\s+"([^"]+)"/g];
const IMPORTS = [...EARLY, /\bimport\(\s*"([^"]+)"/g];

function importsOf(text: string, patterns = IMPORTS): readonly string[] {
  return patterns.flatMap((pattern) => [...text.matchAll(pattern)].map(([, specifier = ""]) => specifier));
}

function coreFault(path: string, specifier: string): string | undefined {
  const room = roomOf(path);
  if (room === undefined) return "belongs to no room of test/repository/layers.ts";
  if (specifier.startsWith("node:")) return builtinFault(room, specifier);
  if (!specifier.startsWith(".")) return packageFault(room.packages, specifier);
  const target = targetOf(path, specifier);
  const targetRoom = roomOf(target);
  if (targetRoom === room && isUnder(path, target)) return `imports "${target}", of a folder that stands over it`;
  if (targetRoom === room || (targetRoom !== undefined && isBelow(targetRoom, room))) return undefined;
  return `imports "${target}", which is not in a row below its own`;
}

function isUnder(path: string, target: string): boolean {
  const inner = upperFolders.find(({ room }) => room === dirname(path));
  if (inner === undefined || inner.over.includes(path)) return false;
  return dirname(target) !== inner.room;
}

function isBelow({ paths, row }: Room, room: Room): boolean {
  return room.imports === undefined ? row < room.row : paths.some((path) => room.imports?.includes(path));
}

function builtinFault({ builtins }: Room, specifier: string): string | undefined {
  return builtins === undefined || builtins.includes(specifier) ? undefined : `imports "${specifier}" and must be pure`;
}

function pluginFault(path: string, specifier: string): string | undefined {
  const folder = path.split("/").slice(0, 2).join("/");
  if (specifier.startsWith("node:") || contract.has(specifier)) return undefined;
  if (!specifier.startsWith(".")) return packageFault(drivers[folder] ?? [], specifier);
  const target = normalize(join(dirname(path), specifier));
  if (!target.startsWith(`${folder}/`)) return `imports "${target}", which is outside of its folder`;
  const passed = doors.find(({ room, door }) => target.startsWith(room) && !path.startsWith(room) && target !== door);
  return passed === undefined ? undefined : `imports "${target}" and not "${passed.door}"`;
}

function packageFault(packages: readonly string[], specifier: string): string | undefined {
  const name = specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
  return packages.includes(name) ? undefined : `imports the package "${name}", which is not at home there`;
}

function roomOf(path: string): Room | undefined {
  return rooms.find(({ paths }) => paths.some((home) => path === home || path.startsWith(`${home}/`)));
}
