import { configText, conformanceTestText, conformanceText, indexText, sinkText } from "./sink-texts.js";

/** The name of a new plugin, and what its package depends on. */
export interface NewPlugin {
  /** In lower case with hyphens: its type in a properties file, its package and its file. */
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

/** README.md: what the plugin is for, an example, guarantees and limits. */
function readmeText(name: string): string {
  return `# ${name}

A sink for Deneb: appends each event as a line of JSON to a file.

\`\`\`properties
agent.sinks.${name}.type = ${name}
agent.sinks.${name}.channel = test-channel
agent.sinks.${name}.file = lines.jsonl
\`\`\`

- Every event is written at least once, in the order of its channel.
- A batch is written as a whole or not at all; a power failure may lose lines that the system had not yet written.
- The file grows without limit.

\`npm test\` builds it and runs the conformance suites.
`;
}
