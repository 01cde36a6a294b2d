import { readFileSync } from "node:fs";
import { access, readFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { declarationRules } from "../../configuration/schema/declaration-rules.js";
import { propertiesText } from "../../embedded/agent-configuration.js";
import { EmbeddedAgent, topologyOf } from "../../embedded/embedded-agent.js";
import { catalogueWith, ownPlugins } from "../../embedded/plugin-sets.js";
import { type SampleNotification, sampleNotifications } from "../../embedded/sample-notifications.js";
import { answerOf, requestOf } from "../../embedded/start-test-agent.js";
import { pluginsAt } from "../../registry/discover.js";
import { AgentError, type AnyPlugin, definePlugin, reasonOf } from "../../sdk/index.js";
import { type CataloguedPlugin, systemClock } from "../../tokens.js";
import type { DevSettings } from "./dev-agent.js";
import { devConfiguration, writtenValues } from "./dev-configuration.js";
import { DevReport, eventText } from "./dev-report.js";

interface DevTerms {
  readonly print: (line: string) => void;
  readonly signal: AbortSignal;
}

/** A running agent with the plugin. */
export interface DevRun {
  /** Of the http source of the usual agent. */
  readonly port: number | undefined;
  /** Posts the notifications, one post after the other, and prints what became of them. */
  post(): void;
  stop(): Promise<void>;
}

/** Milliseconds the import of the plugin may take. */
const loadLimit = 10_000;
/** Milliseconds after which the report says what still waits. */
const settleLimit = 10_000;

export async function startDevRun(settings: DevSettings, { print, signal }: DevTerms): Promise<DevRun> {
  const { plugins, chosen } = await pluginsOf(settings);
  const catalogue = catalogueWith([...(await ownPlugins()), showingSink(print)], plugins);
  const text =
    settings.config === undefined
      ? propertiesText(devConfiguration(chosen.definition, await valuesFor(chosen, settings, print), settings.port))
      : await readFile(settings.config, "utf8");
  const topology = topologyOf({
    text,
    catalogue,
    env: settings.config === undefined ? {} : process.env,
    readFile: (file) => readFileSync(file, "utf8"),
    ...(settings.agent === undefined ? {} : { agent: settings.agent }),
  });
  const report = new DevReport(topology, plugins, print);
  const agent = new EmbeddedAgent({
    topology,
    dataDir: path.join(settings.temporary, "data"),
    loggers: { of: (component) => report.logger(component) },
    clock: systemClock,
    observer: report,
  });
  await agent.start();
  const { kind, type } = chosen.definition;
  const port = settings.config === undefined ? report.portOf("web") : undefined;
  const at = port === undefined ? "" : `; POST to http://127.0.0.1:${port}/notify`;
  print(`running ${kind} ${type}${at}; files: ${settings.temporary}`);
  const post = async (sample: SampleNotification) => {
    const began = performance.now();
    const answer = await answered(agent, sample, port);
    const why = answer.reason === undefined ? "" : `: ${answer.reason}`;
    print(`posted ${sample.name}: ${answer.status} in ${Math.round(performance.now() - began)} ms${why}`);
  };
  const postAll = async () => {
    if (settings.config === undefined && kind === "source") {
      return print("nothing is posted: the plugin is the source. What reaches the sink is shown");
    }
    report.begin();
    for (const sample of await samplesOf(settings.samples)) {
      if (!signal.aborted) await post(sample);
    }
    const isSettled = await agent.settled(settleLimit, signal);
    if (signal.aborted) return;
    await report.end(agent);
    if (!isSettled) print(`still waiting: ${[...agent.waiting(), ...agent.complaints()].join("; ")}`);
    print("waiting for a change of a file, or Enter in a terminal to post again");
  };
  let posting: Promise<void> = Promise.resolve();
  return {
    port,
    post() {
      posting = posting.then(postAll).catch((error: unknown) => print(`not posted: ${reasonOf(error)}`));
    },
    async stop() {
      await agent.stop();
    },
  };
}

async function pluginsOf({ folder, type }: DevSettings) {
  const { plugins: found, problems } = await pluginsAt(folder, { limitMillis: loadLimit, rules: declarationRules });
  const problem = problems.find(({ harmless }) => harmless !== true);
  if (problem !== undefined) {
    const { origin, cause, remedy } = problem;
    throw new AgentError("PLUGIN_UNUSABLE", `plugin "${origin}": ${cause}; ${remedy}`, { retryable: false });
  }
  const fitting = found.filter(({ definition }) => type === undefined || definition.type === type);
  const [chosen, another] = fitting;
  if (chosen !== undefined && another === undefined) return { plugins: found.map((one) => one.definition), chosen };
  const types = found.map(({ definition }) => definition.type).join(", ");
  const reason =
    found.length === 0
      ? "it holds no plugin: give the folder with the package.json or index.js of one, built if it has to be"
      : `choose one of its plugins with --type: ${types}`;
  throw new AgentError("NO_PLUGIN", `looking for the plugin in "${folder}": ${reason}`, { retryable: false });
}

/** The values of the conformance setup beside the plugin, where it has one, and the given ones over them. */
async function valuesFor({ origin }: CataloguedPlugin, settings: DevSettings, print: DevTerms["print"]) {
  const file = path.join(path.dirname(origin), "conformance.js");
  const exists = await access(file).then(
    () => true,
    () => false,
  );
  if (!exists) return settings.values;
  try {
    const { setup }: { readonly setup?: unknown } = await import(pathToFileURL(file).href);
    const config: unknown = Reflect.get(Object(setup), "config");
    const values: unknown = typeof config === "function" ? Reflect.apply(config, setup, [settings.temporary]) : {};
    return { ...writtenValues(Object(values)), ...settings.values };
  } catch (error) {
    print(`"${file}" gives no values for the properties: ${reasonOf(error)}`);
    return settings.values;
  }
}

/** Takes the place of the sink, where the plugin is something else. */
function showingSink(print: DevTerms["print"]): AnyPlugin {
  return definePlugin({
    kind: "sink",
    type: "keep",
    summary: "Shows every event.",
    stability: "stable",
    config: {},
    create: (_, { name }) => ({
      start: async () => {},
      stop: async () => {},
      async persist({ events }) {
        for (const event of events) print(`sink ${name} got ${eventText(event)}`);
        return { requestBytes: 0, responseBytes: 0 };
      },
    }),
  });
}

async function samplesOf(files: readonly string[]): Promise<readonly SampleNotification[]> {
  if (files.length === 0) return Object.values(sampleNotifications);
  const headers = { ...sampleNotifications.ld.headers };
  return await Promise.all(
    files.map(async (file) => ({ name: path.basename(file), headers, body: await readFile(file, "utf8") })),
  );
}

async function answered(agent: EmbeddedAgent, { headers, body }: SampleNotification, port: number | undefined) {
  const request = requestOf({ headers, body });
  if (port === undefined) return answerOf(await agent.receive(request));
  const answer = await fetch(`http://127.0.0.1:${port}/notify`, { method: "POST", headers, body });
  const text = await answer.text();
  return { status: answer.status, ...(answer.ok ? {} : { reason: text }) };
}
