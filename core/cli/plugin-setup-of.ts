import { declarationRules } from "../configuration/schema/declaration-rules.js";
import { isRecord } from "../sdk/event.js";
import { AgentError } from "../sdk/index.js";
import type { ChannelSetup, PluginSetup } from "../testing/index.js";
import type { Terminal } from "./command.js";

type Kinds<Of> = Readonly<Record<keyof Of, "function" | "number" | "object" | "string">>;

const kinds = {
  config: "function",
  openStore: "function",
  openInlet: "function",
  accepted: "object",
  caseSeconds: "number",
  seed: "number",
  limits: "function",
  channel: "object",
  openLogs: "function",
} satisfies Kinds<PluginSetup>;

const channelKinds = {
  afterCrash: "string",
  twoAgents: "string",
  abandon: "function",
} satisfies Kinds<ChannelSetup>;

/**
 * What a file exports as its setup. Throws code `NO_SETUP` for what is none, also where a member is probably a known one with another name:
 * its cases would be missing.
 */
export function setupOf(value: unknown, file: string, terminal: Pick<Terminal, "err">): PluginSetup {
  if (!isSetup(value)) throw noSetup(file, 'it must export "setup", a PluginSetup');
  for (const { path, of, known } of [
    { path: "setup", of: value, known: kinds },
    { path: "setup.channel", of: value.channel, known: channelKinds },
  ]) {
    for (const name of strangeMembers(of, known)) {
      const nearest = declarationRules.nearest(name, Object.keys(known));
      if (nearest !== undefined) throw noSetup(file, `"${path}" has no member "${name}"; did you mean "${nearest}"?`);
      terminal.err(`"${file}": "${path}" has no member "${name}": it has no effect`);
    }
    const fault = kindFault(of, known);
    if (fault !== undefined) throw noSetup(file, `"${path}.${fault}`);
  }
  return value;
}

function isSetup(value: unknown): value is PluginSetup {
  return isRecord(value);
}

function noSetup(file: string, reason: string): AgentError {
  return new AgentError("NO_SETUP", `reading "${file}": ${reason} (deneb/sdk/testing)`, { retryable: false });
}

function strangeMembers(value: unknown, known: Readonly<Record<string, string>>): readonly string[] {
  return Object.keys(isRecord(value) ? value : {}).filter((name) => !(name in known));
}

function kindFault(value: unknown, known: Readonly<Record<string, string>>): string | undefined {
  const wrong = Object.entries(known).find(([name, kind]) => {
    const member: unknown = isRecord(value) ? value[name] : undefined;
    return member !== undefined && typeof member !== kind;
  });
  return wrong === undefined ? undefined : `${wrong[0]}" must be of type ${wrong[1]}`;
}
