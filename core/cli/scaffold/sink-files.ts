import { conformanceTestText, conformanceText } from "./conformance-text.js";
import { readmeText } from "./readme-text.js";
import { configText, indexText, sinkText } from "./source-texts.js";

/** Who a new plugin is, and what its package asks for. */
export interface NewPlugin {
  /** In lower case with hyphens; the type in a properties file, the package and the file are called so. */
  readonly name: string;
  /** Versions of packages by name. */
  readonly devDependencies: Readonly<Record<string, string>>;
}

/** The files of a new sink plugin by their path; it stores, and its own `npm test` passes. */
export function sinkFiles({ name, devDependencies }: NewPlugin): Readonly<Record<string, string>> {
  return {
    "package.json": json(manifest(name, devDependencies)),
    "tsconfig.json": json(compiler).replaceAll(/\[\s+("[^"]*")\s+\]/g, "[$1]"),
    ".gitignore": "node_modules\ndist\ndata\n",
    "README.md": readmeText(name),
    "index.ts": indexText(name),
    "config.ts": configText(name),
    [`${name}.ts`]: sinkText(name),
    "conformance.ts": conformanceText(),
    "conformance.test.ts": conformanceTestText(),
  };
}

function manifest(name: string, devDependencies: NewPlugin["devDependencies"]): object {
  return {
    name,
    version: "0.1.0",
    description: "A sink for Deneb.",
    type: "module",
    keywords: ["deneb-plugin"],
    exports: "./dist/index.js",
    files: ["dist"],
    scripts: { build: "tsc", test: "tsc && node --test dist/conformance.test.js" },
    devDependencies,
  };
}

const compiler = {
  compilerOptions: {
    target: "es2023",
    module: "nodenext",
    rootDir: ".",
    outDir: "dist",
    types: ["node"],
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    verbatimModuleSyntax: true,
    skipLibCheck: true,
  },
  include: ["*.ts"],
} as const;

function json(value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
