import type { AnyPlugin, Schema } from "../sdk/index.js";
import type { Fault } from "./fault.js";
import { warningAt } from "./fault-at.js";
import { kernelProperties, pluginFoldersProperty, pluginPackagesProperty } from "./kernel-settings.js";
import { nearest } from "./nearest.js";
import { sinkSettings } from "./sink-properties.js";
import type { Surroundings } from "./surroundings.js";

const OWN = /^DENEB_(?!TEST_|BENCH_)/;
/** Other programs have variables of this beginning, too: only what looks like one of ours is told. */
const SHARED = /^AGENT_/;

/** A warning for each environment variable that looks like one of ours and that nothing reads. */
export function variableFaults(text: string, { env, catalogue }: Surroundings): readonly Fault[] {
  const known = [
    ...variablesOf(kernelProperties),
    ...variablesOf(sinkSettings),
    pluginFoldersProperty.env,
    pluginPackagesProperty.env,
    ...catalogue.list().flatMap(({ definition }) => [...variablesOf(definition.config), ...oldVariablesOf(definition)]),
  ];
  const isRead = (name: string) => known.includes(name) || text.includes(`\${env:${name}`);
  return Object.keys(env)
    .filter((name) => (OWN.test(name) || SHARED.test(name)) && (env[name] ?? "") !== "" && !isRead(name))
    .toSorted()
    .flatMap((key) => {
      const meant = nearest(key, known);
      if (meant === undefined && SHARED.test(key)) return [];
      return [warningAt({ key, nearest: meant }, "is an environment variable that nothing reads")];
    });
}

function variablesOf(schema: Schema): readonly string[] {
  return Object.values(schema).flatMap(({ env, envFile }) => [env, envFile].filter((name) => name !== undefined));
}

function oldVariablesOf({ spellings = [] }: AnyPlugin): readonly string[] {
  return spellings.flatMap(({ variables = {}, fileVariables = {} }) => [
    ...Object.keys(variables),
    ...Object.keys(fileVariables),
  ]);
}
