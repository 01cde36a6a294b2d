import { fileURLToPath } from "node:url";
import { catalogueOf, discover } from "../registry/discover.js";
import { AgentError, type AnyPlugin } from "../sdk/index.js";
import { noteOfOthers } from "../sdk/plugins-of-others.js";
import type { PluginCatalogue } from "../tokens.js";

/** The plugins that come with the program. */
export async function ownPlugins(): Promise<readonly AnyPlugin[]> {
  const { catalogue } = await discover([fileURLToPath(new URL("../../plugins", import.meta.url))]);
  return catalogue.list().map(({ definition }) => definition);
}

/** A catalogue of Deneb's own definitions and others; throws when two of them declare the same name. */
export function catalogueWith(own: readonly AnyPlugin[], others: readonly AnyPlugin[]): PluginCatalogue {
  for (const definition of others) noteOfOthers(definition);
  const { catalogue, problems } = catalogueOf([
    ...own.map((definition) => ({ definition, origin: "Deneb" })),
    ...others.map((definition) => ({ definition, origin: "a further plugin" })),
  ]);
  const [problem] = problems;
  if (problem === undefined) return catalogue;
  throw new AgentError("PLUGIN_UNUSABLE", `${problem.origin} ${problem.cause}; ${problem.remedy}`, {
    retryable: false,
  });
}
