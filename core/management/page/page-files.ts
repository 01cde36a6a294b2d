import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { dirname, extname, join } from "node:path/posix";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { pageDocument } from "./page-document.js";

/** One file of the page, ready to be sent. */
export interface PageFile {
  readonly type: string;
  readonly content: Buffer;
  readonly compressed: Buffer;
  /** Changes with the content. */
  readonly tag: string;
}

/** The files of the page by their path below the folder of the page; the document has the empty path. */
export interface Page {
  readonly files: ReadonlyMap<string, PageFile>;
  /** The header Content-Security-Policy of the document. */
  readonly policy: string;
}

/** Modules of ours, compiled beside this file. */
const modules = new URL("./browser/", import.meta.url);
/** What is not compiled, in the folder of the source. */
const assets = new URL("../../../../core/management/page/browser/", import.meta.url);
/** In the order in which they are applied; served as one file. */
const styles = ["frame", "parts", "controls", "views", "topology"].map((name) => `styles/${name}.css`);
/** Modules that the document starts, in this order. */
const starts = ["live/start.js", "main.js"] as const;
/** The view that the page opens with; its modules are requested at once, those of others when they are opened. */
const firstView = "views/overview/overview.js";

/** The packages that the modules import, and the names under which they are served. */
const libraries: Readonly<Record<string, string>> = {
  preact: "lib/preact.js",
  "preact/hooks": "lib/preact-hooks.js",
  "preact/jsx-runtime": "lib/preact-jsx-runtime.js",
};

const types: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** Reads the files of the page, with the document that loads them. */
export async function readPage(): Promise<Page> {
  const names = (await readdir(modules, { recursive: true })).filter((name) => name.endsWith(".js")).sort();
  const sources = new Map(await Promise.all(names.map(async (name) => [name, await read(name, modules)] as const)));
  const style = (await Promise.all(styles.map((name) => read(name, assets)))).join("");
  const packages = await Promise.all(
    Object.entries(libraries).map(
      async ([name, path]) => [path, await read(import.meta.resolve(name), modules)] as const,
    ),
  );
  const { html, policy } = pageDocument({
    starts,
    // The packages last: a browser that has few connections begins with what names other files.
    modules: [...importedBy([...starts, firstView], sources), ...Object.values(libraries)],
    imports: libraries,
  });
  const texts = [
    ...sources,
    ...packages,
    ["page.css", style] as const,
    ["icon.svg", await read("icon.svg", assets)] as const,
  ];
  const files = await Promise.all(
    texts.map(async ([path, text]) => [path, await fileOf(types[extname(path)] ?? "", text)] as const),
  );
  return { files: new Map([["", await fileOf("text/html; charset=utf-8", html)], ...files]), policy };
}

/** Without the comment that names a source map, which is not served. */
async function read(name: string, folder: URL): Promise<string> {
  const text = await readFile(new URL(name, folder), "utf8");
  return text.replace(/\n\/\/# sourceMappingURL=\S+\s*$/, "\n");
}

/** Modules and what they import, and so on; not what is loaded later by `import()`. */
function importedBy(first: readonly string[], sources: ReadonlyMap<string, string>): readonly string[] {
  const found = new Set(first);
  // A set that grows while it is gone through is gone through to its new end.
  for (const name of found) {
    for (const [, target = ""] of (sources.get(name) ?? "").matchAll(/^(?:import|export) [^"]*"(\.[^"]+)";$/gm)) {
      found.add(join(dirname(name), target));
    }
  }
  return [...found];
}

const compress = promisify(gzip);

async function fileOf(type: string, text: string): Promise<PageFile> {
  const content = Buffer.from(text);
  const tag = `"${createHash("sha256").update(content).digest("base64url").slice(0, 22)}"`;
  return { type, content, compressed: await compress(content, { level: 9 }), tag };
}
