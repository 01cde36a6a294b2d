import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import test from "node:test";
import { parse } from "yaml";
import { kernelProperties } from "../../core/configuration/schema/kernel-properties.js";
import { repositoryRoot } from "../support/repository.js";
import { chartFolder, copiedFiles, manifestsOf, plainManifest, rendered, writtenManifest } from "./chart.js";
import { kubernetesFaults } from "./kubernetes-schema.js";
import { statefulSet, variable } from "./stateful-set.js";
import { tool, without } from "./tool.js";

const skip = await without(["helm"]);

const everything = {
  replicas: 3,
  image: { digest: `sha256:${"0".repeat(64)}` },
  imagePullSecrets: [{ name: "registry" }],
  properties: "deneb.sources = in\n# second line\n",
  agentName: "deneb",
  logging: { loggers: { root: "DEBUG" } },
  nameMappings: { serviceMappings: [] },
  env: { AGENT_RDB_BATCH_SIZE: 100 },
  extraEnv: [{ name: "TZ", value: "UTC" }],
  extraEnvFrom: [{ secretRef: { name: "more" } }],
  database: { host: "db", port: 5432, username: "deneb", password: "database-secret", options: "sslmode=require" },
  notifications: { port: 8050, tokensSecret: "senders" },
  management: {
    readTokens: ["read-secret"],
    adminTokens: ["admin-secret"],
    tlsSecret: "tls",
    hosts: ["deneb.example.org"],
    brokerTargets: ["orion-ld:1026"],
  },
  persistence: { storageClass: "fast", accessModes: ["ReadWriteOncePod"], annotations: { a: "b" } },
  service: { type: "LoadBalancer", externalTrafficPolicy: "Local", annotations: { a: "b" } },
  probes: { readiness: "ready" },
  networkPolicy: { enabled: true, egress: [{ to: [{ podSelector: {} }] }] },
  serviceMonitor: { enabled: true, labels: { release: "prometheus" } },
  podAnnotations: { a: "b" },
  podLabels: { team: "x" },
  nodeSelector: { disk: "ssd" },
  tolerations: [{ key: "a", operator: "Exists" }],
  affinity: { nodeAffinity: {} },
  topologySpreadConstraints: [{ maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "ScheduleAnyway" }],
  priorityClassName: "high",
  extraVolumes: [{ name: "more", emptyDir: {} }],
  extraVolumeMounts: [{ name: "more", mountPath: "/more" }],
  extraArgs: ["--log-level", "debug"],
};

test("helm finds nothing wrong with the chart", { skip }, async () => {
  assert.match(await tool("helm", ["lint", "--strict", chartFolder]), /0 chart\(s\) failed/);
});

for (const { title, values } of [
  { title: "its defaults", values: {} },
  { title: "every value", values: everything },
  { title: "no volume", values: { persistence: { enabled: false } } },
])
  test(`what the chart makes of ${title} is valid by the schemas of Kubernetes`, { skip }, async () => {
    assert.equal(await kubernetesFaults(await rendered(values)), "");
  });

test("the manifest for those without Helm is valid by the schemas of Kubernetes", async () => {
  assert.equal(await kubernetesFaults(manifestsOf(await writtenManifest())), "");
});

test("the check by schemas refuses unknown fields, absent ones, wrong types and unknown kinds", async () => {
  const [service] = manifestsOf(await writtenManifest()).filter(({ kind }) => kind === "Service");
  assert.ok(service !== undefined);
  const broken = [
    { ...service, specs: {} },
    { ...service, spec: { ports: [{ name: "no port" }] } },
    { ...service, spec: { ports: [{ port: 1, protocl: "TCP" }] } },
    { ...service, spec: { clusterIP: 1 } },
    { ...service, kind: "Servise" },
    { ...service, apiVersion: "apps/v1" },
  ];

  for (const one of broken) assert.notEqual(await kubernetesFaults([one]), "", JSON.stringify(one));
  assert.equal(await kubernetesFaults([service]), "");
});

test("the manifest for those without Helm is what the chart makes; npm run manifests writes it", { skip }, async () => {
  assert.equal(await writtenManifest(), await plainManifest());
});

for (const { from, to } of copiedFiles)
  test(`${path.basename(to)} of the chart is ${path.relative(repositoryRoot, from)}; npm run manifests copies it`, async () => {
    assert.equal(await readFile(to, "utf8"), await readFile(from, "utf8"));
  });

test("each agent has one volume that no other pod gets", { skip }, async () => {
  const spec = statefulSet(await rendered({ replicas: 3 })).spec;

  assert.deepEqual(
    spec.volumeClaimTemplates.map(({ metadata }) => metadata.name),
    ["data"],
  );
  assert.deepEqual(
    spec.template.spec.volumes.filter((volume) => "persistentVolumeClaim" in volume),
    [],
  );
  await assert.rejects(rendered({ replicas: 2, persistence: { enabled: false } }), /a volume of its own/);
});

test("a pod has more time to stop than its agent takes", { skip }, async () => {
  const spec = statefulSet(await rendered({ gracePeriodSeconds: 100, stopDelaySeconds: 7 })).spec.template.spec;

  assert.equal(spec.terminationGracePeriodSeconds, 122);
  assert.equal(variable(spec, "DENEB_GRACE_PERIOD"), "100");
});

test("without tokens the management interface is closed to others and probes run in the container", {
  skip,
}, async () => {
  const { spec } = statefulSet(await rendered()).spec.template;
  const [container] = spec.containers;

  assert.equal(variable(spec, "DENEB_MANAGEMENT_HOST"), undefined);
  assert.deepEqual(container?.livenessProbe, { ...container?.livenessProbe, exec: { command: probeOf("/live") } });
  assert.deepEqual(container?.readinessProbe["tcpSocket"], { port: "notifications" });
  for (const management of [{}, { adminTokens: ["a"] }, { existingSecret: "tokens", readTokensKey: "" }])
    await assert.rejects(rendered({ serviceMonitor: { enabled: true }, management }), /needs management\.readTokens/);
});

test("with tokens Kubernetes asks the management interface, over TLS if that is configured", { skip }, async () => {
  const { spec } = statefulSet(await rendered(everything)).spec.template;
  const [container] = spec.containers;

  assert.equal(variable(spec, "DENEB_MANAGEMENT_HOST"), "0.0.0.0");
  assert.deepEqual(container?.livenessProbe["httpGet"], { path: "/live", port: "management", scheme: "HTTPS" });
  assert.deepEqual(container?.readinessProbe["httpGet"], { path: "/ready", port: "management", scheme: "HTTPS" });
});

test("secrets stand in secrets alone", { skip }, async () => {
  const others = (await rendered(everything)).filter(({ kind }) => kind !== "Secret");

  assert.doesNotMatch(JSON.stringify(others), /database-secret|read-secret|admin-secret/);
});

test("a changed properties file is loaded by the running agents, or replaces the pods on request", {
  skip,
}, async () => {
  const podsOf = async (reload: string, properties: string) =>
    JSON.stringify(statefulSet(await rendered({ reload, properties })).spec.template);

  assert.equal(await podsOf("live", "a = b\n"), await podsOf("live", "a = c\n"));
  assert.notEqual(await podsOf("restart", "a = b\n"), await podsOf("restart", "a = c\n"));
});

test("texts and numbers of the values arrive as they are written", { skip }, async () => {
  const properties = "  first = {{ x }}\n\ttab = é\r\nlast: 'one' \"two\" | three\n\n";
  const env = { CAPACITY: 1000000, ODD: 'a: b # "c" {{ d }}\n', YES: true };
  const manifests = await rendered({ properties, env, database: { password: "p\\\"'$\n{{ x }}" } });

  const map = manifests.find(({ kind }) => kind === "ConfigMap");
  assert.deepEqual(map?.["data"], { "agent.properties": properties });
  const { spec } = statefulSet(manifests).spec.template;
  assert.deepEqual(
    ["CAPACITY", "ODD", "YES"].map((name) => variable(spec, name)),
    ["1000000", env.ODD, "true"],
  );
  const secret = manifests.find(({ kind }) => kind === "Secret");
  assert.deepEqual(secret?.["stringData"], { password: "p\\\"'$\n{{ x }}" });
});

test("a changed token is noticed by the running agents, or replaces the pods on request", { skip }, async () => {
  const podsOf = async (reload: string, token: string) =>
    JSON.stringify(statefulSet(await rendered({ reload, management: { readTokens: [token] } })).spec.template);

  assert.equal(await podsOf("live", "one"), await podsOf("live", "two"));
  assert.notEqual(await podsOf("restart", "one"), await podsOf("restart", "two"));
});

test("the schema of the values refuses a misspelled one", { skip }, async () => {
  await assert.rejects(rendered({ databse: { host: "db" } }), /databse/);
  await assert.rejects(rendered({ database: { hots: "db" } }), /hots/);
  await assert.rejects(rendered({ reload: "never" }), /reload/);
});

const listening = (port: string) =>
  `a.sources = in\n  a.sources.in.type = http\na.sources.in.port = ${port}\n#a.sources.in.port = 1\n`;
const refused = [
  {
    values: { properties: listening("8080") },
    reason: /port is 5050, .* listen on 8080: set notifications\.port=8080/,
  },
  { values: { properties: "a.sources.in.type = mqtt\n" }, reason: /no source with a port.*probes\.readiness=ready/ },
  { values: { env: { AGENT_SERVICE_PORT: 8080 } }, reason: /AGENT_SERVICE_PORT is set .* use notifications\.port/ },
  { values: { extraEnv: [{ name: "DENEB_GRACE_PERIOD" }] }, reason: /use gracePeriodSeconds/ },
  { values: { extraArgs: ["--management-port=1"] }, reason: /use management\.port/ },
  { values: { management: { port: 5050 } }, reason: /both 5050: give each its own/ },
  { values: { fullnameOverride: "Bad_Name" }, reason: /fullnameOverride/ },
  { values: { extraArgs: ["-p", "1"] }, reason: /use management\.port/ },
] as const;
for (const { values, reason } of refused)
  test(`a pod that its service could not reach is refused with the remedy: ${JSON.stringify(values)}`, {
    skip,
  }, async () => {
    await assert.rejects(rendered(values), reason);
  });

test("properties with the port of the chart, a variable or the port of one of their sources are accepted", {
  skip,
}, async () => {
  for (const values of [
    { properties: listening("5050") },
    { properties: listening("8080"), notifications: { port: 8080 } },
    { properties: listening("${env:AGENT_SERVICE_PORT:-5050}") },
    { properties: `${listening("8080")}a.sources.other.port = 5050\n` },
    { properties: "a.sources.in.type = mqtt\n", probes: { readiness: "ready" } },
    { properties: `${listening("8080").replaceAll("a.", "b.")}${listening("5050")}`, agentName: "a" },
  ])
    assert.ok(statefulSet(await rendered(values)), JSON.stringify(values));
});

test("the agent and the file of its image know each variable that the chart sets", { skip }, async () => {
  const { spec } = statefulSet(await rendered({ ...everything, env: {}, extraEnv: [] })).spec.template;
  const properties = await readFile(path.join(repositoryRoot, "deploy/container/agent.properties"), "utf8");
  const reference = await Promise.all(
    ["sink-rdb", "source-http"].map((page) => readFile(path.join(repositoryRoot, `docs/reference/${page}.md`), "utf8")),
  );
  const kernel = new Set<string>(Object.values(kernelProperties).map(({ env }) => env));

  const unknown = spec.containers[0]?.env
    .map(({ name }) => name)
    .filter((name) => !kernel.has(name) && ![properties, ...reference].some((text) => text.includes(name)));

  assert.deepEqual(unknown, []);
});

test("rules and dashboard go into the cluster on request", { skip }, async () => {
  const values = { prometheusRule: { enabled: true }, grafanaDashboard: { enabled: true } };
  const manifests = await rendered(values);

  const rules = manifests.find(({ kind }) => kind === "PrometheusRule");
  assert.deepEqual(rules?.["spec"], parse(await readFile(copiedFiles[0].to, "utf8")));
  const map = manifests.find(({ kind, metadata }) => kind === "ConfigMap" && metadata.name === "deneb-dashboard");
  assert.match(JSON.stringify(map), /deneb\.json/);
  assert.equal(await kubernetesFaults(manifests), "");
});

test("chart, image and agent have one version", async () => {
  const chart = parse(await readFile(path.join(chartFolder, "Chart.yaml"), "utf8"));
  const { version } = JSON.parse(await readFile(path.join(repositoryRoot, "package.json"), "utf8"));

  assert.deepEqual([chart.version, chart.appVersion], [version, version]);
  const file = await readFile(path.join(repositoryRoot, "deploy/container/Containerfile"), "utf8");
  assert.equal(/^ARG VERSION=(.*)$/m.exec(file)?.[1], version);
});

const probeOf = (target: string) => ["/usr/local/bin/node", "/opt/deneb/health.mjs", target];
