import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { Express } from "express";
import { editedFile } from "../../core/files/edited-text.js";
import { documentedPaths } from "../../core/management/openapi/openapi-resource.js";
import type { Paths } from "../../core/management/openapi/operation.js";
import { type BrokerReply, brokerStandIn, type SeenCall } from "../support/broker.js";
import { runningManagement } from "../support/running-management.js";
import { tempFolder } from "../support/temp-folder.js";
import { v2 } from "./subscriptions/payloads.js";

test("every route of the interface is documented, and every documented operation has a route", async (context) => {
  const { app, call } = await runningManagement(context);

  const { status, body } = await call("GET", "/openapi.json");

  assert.equal(status, 200);
  assert.equal(body.openapi, "3.1.0");
  assert.deepEqual(operationsOf(body.paths), routesOf(app));
});

test("every reference of the document leads somewhere", async (context) => {
  const { call } = await runningManagement(context);

  const { text, body } = await call("GET", "/openapi.json");

  const names = [...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name = ""]) => name);
  assert.ok(names.length > 0);
  assert.deepEqual(
    names.filter((name) => !Object.hasOwn(body.components.schemas, name)),
    [],
  );
});

test("every documented answer can be got, and no call gets another", async (context) => {
  const broker = await brokerStandIn(context, answering);
  const silent = await brokerStandIn(context, () => undefined);
  const folder = await tempFolder(context);
  const mappingsFile = join(folder, "mappings.json");
  const { agent, call, dataDir } = await runningManagement(context, {
    access: { tokens: { read: [], admin: ["t"] }, bodyLimit: 2000 },
    brokerTimeoutMillis: 50,
    nameMappings: editedFile(mappingsFile),
  });
  const seen = new Set<string>();
  const ask = async (method: string, path: string, body = "", headers: Record<string, string> = authorized) => {
    const { status } = await call(method.toUpperCase(), path, { headers, body });
    seen.add(`${method.toLowerCase()} ${path.replace(/\?.*/, "")} ${status}`);
  };

  for (const [method = "", path = ""] of operationsOf(documentedPaths).map((operation) => operation.split(" "))) {
    await ask(method, path, "", { ...authorized, "Sec-Fetch-Site": "cross-site" });
    await ask(method, path, "", {});
    await ask(method, path, "x".repeat(2001));
    await ask(method, path);
  }
  const away = { ...broker.endpoint, port: "1" };
  for (const endpoint of [broker.endpoint, away, silent.endpoint]) {
    for (const id of ["known", "unknown"])
      for (const method of ["GET", "DELETE"])
        await ask(method, `/v1/subscriptions?ngsi_version=2&subscription_id=${id}`, JSON.stringify(endpoint));
    await ask("POST", "/v1/subscriptions?ngsi_version=2", JSON.stringify({ subscription: v2, endpoint }));
  }
  await ask("GET", "/v1/subscriptions?ngsi_version=1");
  for (const path of ["/admin/metrics", "/v1/admin/metrics"]) await ask("GET", `${path}?reset=x`);
  const askFiles = async () => {
    for (const method of ["POST", "PUT", "GET", "DELETE"]) {
      for (const [path, body] of logInputs) await ask(method, `${path}?transient=false`, body);
      await ask(method, "/v1/namemappings", '{"serviceMapping":[{"originalService":"a"}]}');
    }
  };
  await askFiles();
  for (const [path] of logInputs) for (const method of ["GET", "DELETE"]) await ask(method, `${path}?transient=x`);
  for (const file of [mappingsFile, join(dataDir, "logging.json")]) await writeFile(file, "{bad");
  await askFiles();
  await agent.stop(1000);
  await ask("GET", "/ready");

  assert.deepEqual([...seen].sort(), answersOf(documentedPaths));
});

const authorized = { Authorization: "Bearer t" };

const logInputs = [
  ["/v1/admin/log/loggers", '{"logger":{"name":"n1","level":"INFO"}}'],
  [
    "/v1/admin/log/appenders",
    '{"appender":{"name":"n1","class":"console"},"pattern":{"layout":"pattern","ConversionPattern":"%m%n"}}',
  ],
] as const;

/** A broker that knows one subscription. */
function answering({ method, url }: SeenCall): BrokerReply {
  if (url.endsWith("/unknown")) return { status: 404 };
  if (method === "POST") return { status: 201, headers: { Location: "/v2/subscriptions/known" } };
  return method === "DELETE" ? { status: 204 } : { status: 200, body: { id: "known" } };
}

function answersOf(paths: Paths): readonly string[] {
  return Object.entries(paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { responses }]) =>
        Object.keys(responses).map((status) => `${method} ${path} ${status}`),
      ),
    )
    .sort();
}

function operationsOf(paths: object): readonly string[] {
  return Object.entries(paths)
    .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method} ${path}`))
    .sort();
}

/** What express has mounted, read from its routers. */
function routesOf(app: Express): readonly string[] {
  return [...new Set(routesIn(app.router))].sort();
}

function routesIn(router: unknown): readonly string[] {
  return list(member(router, "stack")).flatMap((layer) => {
    const route = member(layer, "route");
    const paths = [member(route, "path")].flat().filter((path) => typeof path === "string");
    const methods = list(member(route, "stack")).map((handler) => member(handler, "method"));
    const own = paths.flatMap((path) => [...new Set(methods)].map((method) => `${method} ${path}`));
    return [...own, ...routesIn(member(layer, "handle"))];
  });
}

function member(value: unknown, name: string): unknown {
  const holds = (typeof value === "object" && value !== null) || typeof value === "function";
  return holds ? Reflect.get(value, name) : undefined;
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
