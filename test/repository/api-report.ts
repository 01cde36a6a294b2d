import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { dirname, join as joinPath, normalize, relative } from "node:path/posix";
import { repositoryRoot } from "../support/repository.js";

interface PublicEntry {
  readonly name: string;
  readonly entry: string;
  readonly report: string;
  /** The folders whose files are reported, those below them too; absent: the files beside the entry. */
  readonly parts?: readonly string[];
}

/** The public entries of the package and the file that reports each. */
export const publicEntries: readonly PublicEntry[] = [
  { name: "deneb/sdk", entry: "core/sdk/index.d.ts", report: "docs/api/sdk.txt" },
  { name: "deneb/sdk/channel", entry: "core/sdk/channel/index.d.ts", report: "docs/api/sdk-channel.txt" },
  {
    name: "deneb/sdk/testing",
    entry: "core/embedded/index.d.ts",
    report: "docs/api/sdk-testing.txt",
    parts: ["core/testing", "core/embedded"],
  },
  { name: "deneb/ngsi", entry: "core/ngsi/index.d.ts", report: "docs/api/ngsi.txt", parts: ["core/ngsi"] },
  {
    name: "deneb/sql",
    entry: "core/sql/index.d.ts",
    report: "docs/api/sql.txt",
    parts: ["core/sql"],
  },
];

/** The declarations that an entry shows, as the compiler wrote them, comments left out, file by file. */
export async function apiReport({ name, entry, parts: home }: Omit<PublicEntry, "report">) {
  const folder = home?.[0] ?? dirname(entry);
  const isOwn = (path: string) => home?.some((one) => path.startsWith(`${one}/`)) ?? dirname(path) === folder;
  const texts = await declarations(entry);
  const own = [...texts].filter(([path]) => isOwn(path)).sort(([a], [b]) => (a < b ? -1 : 1));
  const parts = own.map(([path, text]) => `## ${relative(folder, path)}\n\n${text}\n`);
  const stability = beta.has(name) ? "beta" : "stable";
  return [`# The public interface of ${name} (${stability}), written by npm run docs\n`, ...parts].join("\n");
}

/** Entries that may change in a minor version; see docs/api/README.md. */
const beta: ReadonlySet<string> = new Set(["deneb/sql"]);

/** What the changelog must name under Unreleased, so that no change of the surface goes without a line there. */
export function fingerprint(report: string): string {
  return createHash("sha256").update(report).digest("hex").slice(0, 8);
}

async function declarations(entry: string, seen = new Map<string, string>()): Promise<ReadonlyMap<string, string>> {
  if (seen.has(entry)) return seen;
  const text = await readFile(join(repositoryRoot, "dist", entry), "utf8");
  seen.set(entry, withoutComments(text));
  for (const [, specifier = ""] of text.matchAll(/\bfrom "(\.[^"]+)\.js"/g)) {
    await declarations(normalize(joinPath(dirname(entry), `${specifier}.d.ts`)), seen);
  }
  return seen;
}

function withoutComments(text: string): string {
  return text
    .replaceAll(/\/\*.*?\*\//gs, "")
    .replaceAll(/^\/\/.*$/gm, "")
    .split("\n")
    .filter((line) => line.trim() !== "")
    .join("\n");
}
