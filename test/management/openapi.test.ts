import assert from "node:assert/strict";
import { test } from "node:test";
import type { Express } from "express";
import { documentedPaths } from "../../core/management/openapi/openapi-resource.js";
import { brokerStandIn } from "../support/broker.js";
import { runningManagement } from "../support/running-management.js";
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
  const seen = new Set<string>();
  const broker = await brokerStandIn(context, ({ url, method }) => {
    if (url.includes("unknown")) return { status: 404 };
    if (url.includes("silent")) return undefined;
    if (method === "POST") return { status: 201, headers: { Location: "/v2/subscriptions/a" } };
    return url.includes("/a") ? (method === "DELETE" ? { status: 204 } : { status: 200, body: {} }) : undefined;
  });
  const tokens = { read: [], admin: ["t"] };
  const access = { tokens, bodyLimit: 2000 };
  const { agent, call } = await runningManagement(context, { access, brokerTimeoutMillis: 50 });
  const authorized = { Authorization: "Bearer t" };
  const ask = async (method: string, path: string, body = "", headers: Record<string, string> = authorized) => {
    const { status } = await call(method, path, { headers, body });
    seen.add(`${method.toLowerCase()} ${path.replace(/\?.*/, "")} ${status}`);
  };
  const all = operationsOf(documentedPaths).map((operation) => operation.split(" "));

  for (const [method = "", path = ""] of all) {
    await ask(method.toUpperCase(), path, "", { ...authorized, "Sec-Fetch-Site": "cross-site" });
    await ask(method.toUpperCase(), path, "", {});
    if (path !== "/v1/subscriptions") await ask(method.toUpperCase(), path);
  }
  for (const path of ["/admin/metrics", "/v1/admin/metrics"]) await ask("GET", `${path}?reset=x`);
  const endpoint = JSON.stringify(broker.endpoint);
  const gone = JSON.stringify({ ...broker.endpoint, port: "1" });
  for (const method of ["GET", "DELETE"]) {
    for (const id of ["a", "unknown", "silent"])
      await ask(method, `/v1/subscriptions?ngsi_version=2&subscription_id=${id}`, endpoint);
    await ask(method, "/v1/subscriptions?ngsi_version=2&subscription_id=a", gone);
    await ask(method, "/v1/subscriptions?ngsi_version=2&subscription_id=a", "x".repeat(2001));
    await ask(method, "/v1/subscriptions");
  }
  await ask("GET", "/v1/subscriptions?ngsi_version=1");
  const subscription = (at: unknown) => JSON.stringify({ subscription: v2, endpoint: at });
  await ask("POST", "/v1/subscriptions?ngsi_version=2", subscription(broker.endpoint));
  await ask("POST", "/v1/subscriptions?ngsi_version=2", subscription({ ...broker.endpoint, port: "1" }));
  const silent = await brokerStandIn(context, () => undefined);
  await ask("POST", "/v1/subscriptions?ngsi_version=2", subscription(silent.endpoint));
  await ask("POST", "/v1/subscriptions?ngsi_version=2", "x".repeat(2001));
  await ask("POST", "/v1/subscriptions");
  await agent.stop(1000);
  await ask("GET", "/ready");

  const documented = Object.entries(documentedPaths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { responses }]) =>
      Object.keys(responses).map((status) => `${method} ${path} ${status}`),
    ),
  );
  assert.deepEqual([...seen].sort(), documented.sort());
});

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
