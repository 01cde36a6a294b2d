import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { installed } from "../../core/tracing/packages.js";
import { repositoryRoot } from "../support/repository.js";
import { runCli } from "../support/run-cli.js";
import { tempFolder } from "../support/temp-folder.js";
import { writeFiles } from "../support/written-files.js";
import { propertiesWith } from "./traced-agent.js";

const wrong = [
  {
    env: { OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" },
    says: /OTEL_EXPORTER_OTLP_PROTOCOL is "grpc"; give http\/protobuf, or leave it out/,
  },
  {
    env: { OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: "http/json" },
    says: /OTEL_EXPORTER_OTLP_TRACES_PROTOCOL is "http\/json"/,
  },
  { env: { OTEL_EXPORTER_OTLP_ENDPOINT: "collector" }, says: /OTEL_EXPORTER_OTLP_ENDPOINT is not a URL; give one/ },
  { env: { OTEL_EXPORTER_OTLP_ENDPOINT: "grpc://u:secret@c" }, says: /^(?!.*secret).* is not a URL/ },
  { env: { OTEL_TRACES_EXPORTER: "zipkin" }, says: /OTEL_TRACES_EXPORTER is "zipkin"; give otlp or none/ },
] as const;

for (const { env, says } of wrong)
  test(`an agent with --tracing and ${JSON.stringify(env)} does not start and says what to give`, async (context) => {
    const { code, stdout } = await started(await folderWith(context), env);

    assert.equal(code, 1);
    assert.match(reasonIn(stdout), says);
  });

test("an agent with --tracing and without the packages does not start and says how to install them", async (context) => {
  const folder = await folderWith(context);
  await writeFiles(folder, {
    "without.mjs": 'import { register } from "node:module"; register("./hook.mjs", import.meta.url);',
    "hook.mjs": `export async function resolve(specifier, context, next) {
      if (specifier !== "@opentelemetry/exporter-trace-otlp-proto") return await next(specifier, context);
      throw Object.assign(new Error("Cannot find package"), { code: "ERR_MODULE_NOT_FOUND" });
    }`,
  });
  const NODE_OPTIONS = `--import ${pathToFileURL(path.join(folder, "without.mjs")).href}`;

  const { code, stdout } = await started(folder, { NODE_OPTIONS });

  assert.equal(code, 1);
  assert.ok(stdout.includes(`npm install ${installed.join(" ")}`), stdout);
});

test("the packages that the message names are the optional ones of package.json", () => {
  const {
    peerDependencies,
    peerDependenciesMeta,
    devDependencies,
    dependencies,
  }: Readonly<Record<string, Readonly<Record<string, unknown>>>> = JSON.parse(
    readFileSync(path.join(repositoryRoot, "package.json"), "utf8"),
  );

  const peers = Object.entries(peerDependencies ?? {});
  const packages = peers.map(([name, range]) => `${name}@${range}`);
  assert.deepEqual(
    packages.filter((text) => text.startsWith("@opentelemetry/")),
    installed,
  );
  assert.deepEqual(
    Object.entries(peerDependenciesMeta ?? {}),
    Object.keys(peerDependencies ?? {}).map((name) => [name, { optional: true }]),
  );
  for (const [name, range] of Object.entries(peerDependencies ?? {})) assert.equal(devDependencies?.[name], range);
  assert.deepEqual(
    Object.keys(dependencies ?? {}).filter((name) => name.startsWith("@opentelemetry/")),
    [],
  );
});

async function folderWith(context: Parameters<typeof tempFolder>[0]): Promise<string> {
  const folder = await tempFolder(context);
  await writeFiles(folder, { "agent.properties": propertiesWith("memory", ["type = logger"]) });
  return folder;
}

function started(folder: string, env: Readonly<Record<string, string>>) {
  const file = path.join(folder, "agent.properties");
  const flags = [
    "--config",
    file,
    "--data-dir",
    path.join(folder, "data"),
    "--management-port",
    "0",
    "--tracing",
    "true",
  ];
  return runCli(["run", ...flags], env);
}

/** The reason in the only line of the log. */
function reasonIn(line: string): string {
  return String(JSON.parse(line).reason);
}
