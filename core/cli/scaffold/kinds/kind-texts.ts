import type { PluginNames } from "../plugin-names.js";

/** The texts of a new plugin; in code, what only TypeScript has stands between « and ». */
export interface NamedTexts {
  /** The end of the sentence that the README begins with. */
  readonly does: string;
  /** Lines of a properties file. */
  readonly example: readonly string[];
  /** Guarantees and limits, a sentence each. */
  readonly guarantees: readonly string[];
  /** npm packages that it needs at work. */
  readonly dependencies?: readonly string[];
  /** Code by the name of its file, without the extension. */
  readonly sources: Readonly<Record<string, string>>;
  /** A test with an agent. */
  readonly agentTest: string;
}

export type KindTexts = (names: PluginNames) => NamedTexts;

interface DeclarationInput {
  readonly kind: string;
  readonly summary: string;
  /** Whether config.ts exports a check. */
  readonly checked?: boolean;
  /** What comes before `config`, a line each. */
  readonly before?: readonly string[];
  /** The member `create`. */
  readonly create: string;
}

/** index.ts: the declaration. */
export function declarationText(names: PluginNames, input: DeclarationInput): string {
  const { id, typeId, type, file } = names;
  const { kind, summary, checked = false, before = [], create } = input;
  const imported = checked ? `check${typeId}, ${id}Schema` : `${id}Schema`;
  const exported = create.includes(`new ${typeId}`) ? typeId : id;
  const lines = [
    "  apiVersion: 1,",
    `  kind: "${kind}",`,
    `  type: "${type}",`,
    `  summary: "${summary}",`,
    '  stability: "beta",',
    ...before.map((line) => `  ${line}`),
    `  config: ${id}Schema,`,
    ...(checked ? [`  check: check${typeId},`] : []),
    `  create: ${create},`,
  ];
  return `import { definePlugin } from "deneb/sdk";
import { ${imported} } from "./config.js";
import { ${exported} } from "./${file}.js";

export default definePlugin({
${lines.join("\n")}
});
`;
}

/** config.ts without a check: the schema with these lines. */
export function schemaText({ id, typeId }: PluginNames, properties: readonly string[]): string {
  return `«import type { ConfigOf, Schema } from "deneb/sdk";

»export const ${id}Schema = {
${properties.map((line) => `  ${line}`).join("\n")}
}« as const satisfies Schema»;
«
export type ${typeId}Config = ConfigOf<typeof ${id}Schema>;
»`;
}

/** conformance.ts of a plugin that the suites can test with its defaults. */
export const plainConformance = `«import type { PluginSetup } from "deneb/sdk/testing";

»/** How the conformance suites test this plugin; \`deneb plugin test\` reads it, too. */
export const setup«: PluginSetup» = {};
`;
