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
  { name: "deneb/log", entry: "core/log/index.d.ts", report: "docs/api/log.txt", parts: ["core/log"] },
];

type Entry = Omit<PublicEntry, "report">;

/** What docs/api has of an entry: its declarations as the compiler wrote them, with their comments, file by file. */
export async function apiPage(entry: Entry): Promise<string> {
  return await report(entry, withComments);
}

/** The same without comments: the interface itself, which the changelog names. */
export async function apiReport(entry: Entry): Promise<string> {
  return await report(entry, withoutComments);
}

async function report({ name, entry, parts: home }: Entry, shown: (text: string) => string): Promise<string> {
  const folder = home?.[0] ?? dirname(entry);
  const isOwn = (path: string) => home?.some((one) => path.startsWith(`${one}/`)) ?? dirname(path) === folder;
  const texts = await declarations(entry);
  const own = [...texts].filter(([path]) => isOwn(path)).sort(([a], [b]) => (a < b ? -1 : 1));
  const parts = own.map(([path, text]) => `## ${relative(folder, path)}\n\n${shown(text)}\n`);
  const stability = beta.has(name) ? "beta" : "stable";
  const marks = await markTexts(entry);
  return [`# The public interface of ${name} (${stability}), written by npm run docs\n`, marks, ...parts].join("\n");
}

/** How stable an export is, by the tag in its comment. */
const stabilities = ["stable", "beta", "deprecated"] as const;

/** A line for each mark with the exports that have it. */
async function markTexts(entry: string): Promise<string> {
  const marked = await Promise.all(
    (await exportsOf(entry)).map(async (one) => ({ ...one, marks: await marksOf(one) })),
  );
  const lines = stabilities.flatMap((stability) => {
    const names = marked.filter(({ marks }) => marks.includes(stability)).map(({ name }) => name);
    return names.length === 0 ? [] : [`- ${stability}: ${names.toSorted().join(", ")}`];
  });
  return `## Stability of the exports\n\n${lines.join("\n")}\n`;
}

interface NamedExport {
  readonly name: string;
  /** The file that declares it. */
  readonly file: string;
}

/** The names that an entry exports. */
export async function exportsOf(entry: string): Promise<readonly NamedExport[]> {
  const source = join(repositoryRoot, entry.replace(/\.d\.ts$/, ".ts"));
  const text = await readFile(source, "utf8");
  return [...text.matchAll(/^export (?:type )?\{([^}]*)\} from "([^"]+)\.js"/gm)].flatMap(([, list = "", from = ""]) =>
    list
      .split(",")
      .map((one) => one.trim().replace(/^type /, ""))
      .filter((name) => name !== "")
      .map((name) => ({ name, file: join(dirname(source), `${from}.ts`) })),
  );
}

/** The marks in the comment of an export. */
export async function marksOf({ name, file }: NamedExport): Promise<readonly string[]> {
  const comment = await commentOf({ name, file });
  return stabilities.filter((stability) => new RegExp(`@${stability}\\b`).test(comment ?? ""));
}

/** The comment directly above the declaration of an export; undefined when it has none. */
export async function commentOf({ name, file }: NamedExport): Promise<string | undefined> {
  const text = await readFile(file, "utf8");
  const declared = new RegExp(`\\*/\\nexport (?:async )?(?:type|interface|class|const|function) ${name}\\b`).exec(text);
  return declared === null ? undefined : text.slice(text.lastIndexOf("/**", declared.index), declared.index);
}

/** Entries that may change in a minor version; see docs/api/README.md. */
const beta: ReadonlySet<string> = new Set(["deneb/sql", "deneb/log"]);

/** What the changelog must name under Unreleased, so that no change of the surface goes without a line there. */
export function fingerprint(report: string): string {
  return createHash("sha256").update(report).digest("hex").slice(0, 8);
}

async function declarations(entry: string, seen = new Map<string, string>()): Promise<ReadonlyMap<string, string>> {
  if (seen.has(entry)) return seen;
  const text = await readFile(join(repositoryRoot, "dist", entry), "utf8");
  seen.set(entry, text);
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

/** A blank line stands before each comment at the margin. */
function withComments(text: string): string {
  return text
    .replaceAll(/^\/\/.*$/gm, "")
    .split("\n")
    .filter((line) => line.trim() !== "")
    .join("\n")
    .replaceAll(/(?<=[^\n])\n(?=\/\*\*)/g, "\n\n");
}
