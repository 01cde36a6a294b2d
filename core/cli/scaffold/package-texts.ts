import type { NamedTexts } from "./kinds/kind-texts.js";
import type { PluginNames } from "./plugin-names.js";

export type Language = "ts" | "js";

/** What a new package depends on. */
export interface Versions {
  /** A range for the version of Deneb that wrote it. */
  readonly deneb: string;
  /** Where npm finds Deneb. */
  readonly denebSpecifier: string;
  /** Ranges of further packages by name. */
  range(name: string): string;
}

interface PackageInput {
  readonly names: PluginNames;
  readonly language: Language;
  readonly versions: Versions;
  readonly texts: Pick<NamedTexts, "does" | "example" | "guarantees" | "dependencies">;
}

/** Everything of the package that is not its code. */
export function packageTexts(input: PackageInput): Readonly<Record<string, string>> {
  const { language } = input;
  const ofLanguage: Readonly<Record<Language, Readonly<Record<string, string>>>> = {
    ts: { "tsconfig.json": json(compiler).replaceAll(/\[\s+("[^"]*")\s+\]/g, "[$1]") },
    js: { "index.d.ts": declaration },
  };
  return {
    "package.json": json(manifest(input)),
    ...ofLanguage[language],
    ".gitignore": language === "ts" ? "node_modules\ndist\ndata\n" : "node_modules\ndata\n",
    ".github/workflows/ci.yml": workflow,
    "README.md": readme(input),
  };
}

function manifest({ names, language, versions, texts }: PackageInput): object {
  const { types, entry, files, build, tests } = layouts[language];
  const { dependencies = [] } = texts;
  const needed = Object.fromEntries(dependencies.map((name) => [name, versions.range(name)]));
  const compilerPackages = {
    "@types/node": versions.range("@types/node"),
    deneb: versions.denebSpecifier,
    typescript: versions.range("typescript"),
  };
  return {
    name: names.packageName,
    version: "0.1.0",
    description: `A ${kindWords(names)} for Deneb.`,
    license: "Apache-2.0",
    type: "module",
    keywords: ["deneb-plugin"],
    engines: { node: ">=20.19" },
    exports: { ".": { types, default: entry }, "./package.json": "./package.json" },
    files,
    scripts: {
      ...(build === undefined ? {} : { build }),
      test: [...(build === undefined ? [] : [build]), `node --test ${tests}`].join(" && "),
      dev: "deneb plugin dev .",
      report: [...(build === undefined ? [] : [build]), reported].join(" && "),
      ci: "npm test && npm pack --dry-run",
      ...(build === undefined ? {} : { prepack: build }),
    },
    ...(dependencies.length === 0 ? {} : { dependencies: needed }),
    peerDependencies: { deneb: versions.deneb },
    peerDependenciesMeta: { deneb: { optional: true } },
    devDependencies: language === "ts" ? compilerPackages : { deneb: versions.denebSpecifier },
  };
}

const reported = "deneb plugin test . --report deneb-report.json";

interface Layout {
  readonly types: string;
  readonly entry: string;
  readonly files: readonly string[];
  /** The command that builds it; absent where nothing is built. */
  readonly build?: string;
  readonly tests: string;
}

const layouts: Readonly<Record<Language, Layout>> = {
  ts: {
    types: "./dist/index.d.ts",
    entry: "./dist/index.js",
    files: ["dist", "!dist/*.test.*", "deneb-report.json"],
    build: "tsc",
    tests: "dist/conformance.test.js dist/agent.test.js",
  },
  js: {
    types: "./index.d.ts",
    entry: "./index.js",
    files: ["*.js", "index.d.ts", "!*.test.js", "deneb-report.json"],
    tests: "conformance.test.js agent.test.js",
  },
};

const compiler = {
  compilerOptions: {
    target: "es2023",
    module: "nodenext",
    rootDir: ".",
    outDir: "dist",
    declaration: true,
    types: ["node"],
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    verbatimModuleSyntax: true,
    skipLibCheck: true,
  },
  include: ["*.ts"],
} as const;

const declaration = `import type { AnyPlugin } from "deneb/sdk";

declare const plugin: AnyPlugin;
export default plugin;
`;

const workflow = `# Type check, tests and the list of what would be published, as npm run ci does.
name: ci
on: [push, pull_request]
permissions:
  contents: read
jobs:
  ci:
    runs-on: ubuntu-latest
    strategy:
      matrix:
        node: [20, 22, 24]
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with:
          node-version: \${{ matrix.node }}
      # package.json names Deneb by a folder of the machine on which it was written. The variable DENEB_PACKAGE of
      # the repository says where it is found here: the address of its packed file, or a version once it is published.
      - if: vars.DENEB_PACKAGE != ''
        run: npm pkg set "devDependencies.deneb=$DENEB_PACKAGE"
        env:
          DENEB_PACKAGE: \${{ vars.DENEB_PACKAGE }}
      - run: npm install
      - run: npm run ci
`;

function json(value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

function kindWords({ kind }: PluginNames): string {
  return kind === "sql-sink" ? "sink" : kind.replaceAll("-", " ");
}

/** README.md: what the plugin is for, an example, guarantees and limits. */
function readme({ names, language, texts }: PackageInput): string {
  const builds = language === "ts" ? "builds it and runs" : "runs";
  return `# ${names.packageName}

A ${kindWords(names)} for Deneb: ${texts.does}

\`\`\`properties
${texts.example.join("\n")}
\`\`\`

${texts.guarantees.map((line) => `- ${line}`).join("\n")}

\`npm test\` ${builds} the conformance suites and a test with an agent; \`npm run dev\` runs an agent that loads it again
whenever a file changes. \`npm run report\` writes the result of the suites to \`deneb-report.json\`, which the package ships.
`;
}
