import { channelTexts } from "./kinds/channel.js";
import { handlerTexts } from "./kinds/handler.js";
import { interceptorTexts } from "./kinds/interceptor.js";
import type { KindTexts, NamedTexts } from "./kinds/kind-texts.js";
import { selectorTexts } from "./kinds/selector.js";
import { sinkTexts } from "./kinds/sink.js";
import { sinkProcessorTexts } from "./kinds/sink-processor.js";
import { sourceTexts } from "./kinds/source.js";
import { sqlSinkTexts } from "./kinds/sql-sink.js";
import { type Language, packageTexts, type Versions } from "./package-texts.js";
import type { NewKind, PluginNames } from "./plugin-names.js";

interface NewPlugin {
  readonly names: PluginNames;
  readonly language: Language;
  readonly versions: Versions;
  /** Text of the licence Apache-2.0; absent: the package has only its name. */
  readonly licence: string | undefined;
}

/** The files of a new plugin by their path; it works, and its own `npm test` passes. */
export function pluginFiles({ names, language, versions, licence }: NewPlugin): Readonly<Record<string, string>> {
  const texts = kinds[names.kind](names);
  const sources = { ...texts.sources, "conformance.test": conformanceTest, "agent.test": texts.agentTest };
  const named = Object.entries(sources).map(([name, text]) => [`${name}.${language}`, inLanguage(text, language)]);
  return {
    ...packageTexts({ names, language, versions, texts }),
    ...(licence === undefined ? {} : { LICENSE: licence }),
    ...Object.fromEntries(named),
  };
}

const kinds: Readonly<Record<NewKind, KindTexts>> = {
  sink: sinkTexts,
  "sql-sink": sqlSinkTexts,
  source: sourceTexts,
  handler: handlerTexts,
  interceptor: interceptorTexts,
  channel: channelTexts,
  selector: selectorTexts,
  "sink-processor": sinkProcessorTexts,
} satisfies Record<NewKind, (names: PluginNames) => NamedTexts>;

/** What only TypeScript has stands between « and ». */
function inLanguage(text: string, language: Language): string {
  return language === "ts" ? text.replaceAll(/[«»]/g, "") : text.replaceAll(/«[^»]*»/g, "");
}

const conformanceTest = `import { test } from "node:test";
import { pluginConformance } from "deneb/sdk/testing";
import { setup } from "./conformance.js";
import plugin from "./index.js";

for (const { name, run } of await pluginConformance(plugin, setup)) test(name, run);
`;
