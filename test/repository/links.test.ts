import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { dirname, join, normalize } from "node:path/posix";
import test from "node:test";
import { npm } from "../support/example-package.js";
import { repositoryFiles, repositoryRoot } from "../support/repository.js";

interface Page {
  readonly path: string;
  readonly text: string;
}

interface Link {
  readonly path: string;
  readonly anchor: string;
}

test("every link of a page to another file of the repository leads somewhere", async () => {
  const files = await repositoryFiles();
  const known = new Set(files.flatMap((path) => [path, ...foldersOf(path)]));

  const broken = (await pages(files)).flatMap((page) =>
    linksOf(page)
      .filter(({ path }) => !known.has(path))
      .map(({ path }) => `${page.path}: ${path}`),
  );

  assert.deepEqual(broken, []);
});

test("every link to a heading of a page names one that the page has", async () => {
  const all = await pages(await repositoryFiles());
  const headings = new Map(all.map((page) => [page.path, headingsOf(page.text)]));

  const broken = all.flatMap((page) =>
    linksOf(page)
      .filter(({ path, anchor }) => anchor !== "" && headings.get(path)?.has(anchor) === false)
      .map(({ path, anchor }) => `${page.path}: ${path}#${anchor}`),
  );

  assert.deepEqual(broken, []);
});

test("every page of the package finds what it links to in the package", async () => {
  const { output } = await npm(repositoryRoot, "pack", "--dry-run", "--json", "--ignore-scripts");
  const files = [...output.matchAll(/^\s*"path": "(.*)",$/gm)].map(([, path = ""]) => path);
  const known = new Set(files.flatMap((path) => [path, ...foldersOf(path)]));

  const packed = (await pages(files)).flatMap((page) =>
    linksOf(page)
      .filter(({ path }) => !known.has(path))
      .map(({ path }) => `${page.path}: ${path}`),
  );

  assert.ok(known.has("docs/architecture.md") && known.has("dist/core/main.js"));
  assert.deepEqual(packed, []);
});

async function pages(files: readonly string[]): Promise<readonly Page[]> {
  const paths = files.filter((path) => path.endsWith(".md"));
  return await Promise.all(
    paths.map(async (path) => ({ path, text: await readFile(join(repositoryRoot, path), "utf8") })),
  );
}

function linksOf({ path, text }: Page): readonly Link[] {
  return [...proseOf(text).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = ""]) => target)
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
