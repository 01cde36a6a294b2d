import { MASK } from "../../configuration/configuration-fault.js";
import { comparableSettings } from "../../configuration/shown-settings.js";
import type { ComponentNode } from "../../configuration/topology.js";
import { SHORTEST_SECRET, textsIn } from "../arrivals/masking.js";
import type { Finding } from "./probe-runs.js";

/**
 * The findings without the secrets of their component, which servers and plugins may repeat. A secret that is also the value of a setting
 * which is shown, or a part of it, stays there: a user whose name is masked would say that the password is the same.
 */
export function maskedFindings(
  findings: readonly Finding[],
  { definition, config }: Pick<ComponentNode, "definition" | "config">,
): readonly Finding[] {
  const settings = comparableSettings(definition.config, config);
  const textsOf = (isMasked: boolean) =>
    settings.filter(({ shown }) => (shown.masked === true) === isMasked).flatMap(({ value }) => textsIn(value));
  const secrets = textsOf(true).filter((text) => text.length >= SHORTEST_SECRET);
  if (secrets.length === 0) return findings;
  const shown = new Set(textsOf(false).filter((text) => secrets.some((secret) => text.includes(secret))));
  const longestFirst = [...shown, ...secrets].toSorted((a, b) => b.length - a.length);
  const pattern = new RegExp(longestFirst.map(literally).join("|"), "g");
  const masked = (text: string) => text.replace(pattern, (found) => (shown.has(found) ? found : MASK));
  return findings.map(({ reason, remedy, ...finding }) => ({
    ...finding,
    tried: masked(finding.tried),
    ...(reason === undefined ? {} : { reason: masked(reason) }),
    ...(remedy === undefined ? {} : { remedy: masked(remedy) }),
  }));
}

function literally(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
}
