import { readFile } from "node:fs/promises";
import { dirname, join, normalize } from "node:path/posix";

interface Page {
  readonly path: string;
  readonly text: string;
}

interface Link {
  readonly path: string;
  readonly anchor: string;
}

/** The links of the pages among the files of a folder that lead nowhere, as `page: target`. */
export async function brokenLinks(root: string, files: readonly string[]): Promise<readonly string[]> {
  const known = new Set(files.flatMap((path) => [path, ...foldersOf(path)]));
  return (await pages(root, files)).flatMap((page) =>
    linksOf(page)
      .filter(({ path }) => !known.has(path))
      .map(({ path }) => `${page.path}: ${path}`),
  );
}

/** The links to headings that a page has not. */
export async function brokenAnchors(root: string, files: readonly string[]): Promise<readonly string[]> {
  const all = await pages(root, files);
  const headings = new Map(all.map((page) => [page.path, headingsOf(page.text)]));
  return all.flatMap((page) =>
    linksOf(page)
      .filter(({ path, anchor }) => anchor !== "" && headings.get(path)?.has(anchor) === false)
      .map(({ path, anchor }) => `${page.path}: ${path}#${anchor}`),
  );
}

async function pages(root: string, files: readonly string[]): Promise<readonly Page[]> {
  const paths = files.filter((path) => path.endsWith(".md"));
  return await Promise.all(paths.map(async (path) => ({ path, text: await readFile(join(root, path), "utf8") })));
}

/** In the text, of an element such as an image, and below the text. */
const LINKS = /\]\(([^)\s]+)\)|\b(?:src|href)="([^"]+)"|^\[[^\]]+\]: (\S+)$/gm;

function linksOf({ path, text }: Page): readonly Link[] {
  return [...proseOf(text).matchAll(LINKS)]
    .map(([, ...targets]) => targets.find((target) => target !== undefined) ?? "")
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [file = "", anchor = ""] = target.split("#");
      return { path: file === "" ? path : resolved(path, file), anchor };
    });
}

/** As GitHub names them in links. */
function headingsOf(text: string): ReadonlySet<string> {
  const lines = text.replaceAll(/^```.*?^```/gms, "").matchAll(/^#+ (.*)$/gm);
  return new Set(
    [...lines].map(([, heading = ""]) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}

function proseOf(text: string): string {
  return text.replaceAll(/^```.*?^```/gms, "").replaceAll(/`[^`\n]*`/g, "");
}

function resolved(page: string, target: string): string {
  return normalize(join(dirname(page), target)).replace(/\/$/, "");
}

function foldersOf(path: string): readonly string[] {
  const parts = path.split("/");
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join("/"));
}
