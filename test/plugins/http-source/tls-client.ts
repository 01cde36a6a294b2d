import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { request } from "node:https";
import path from "node:path";
import type { TestContext } from "node:test";
import { selfSigned } from "../../support/certificates.js";
import { tempFolder } from "../../support/temp-folder.js";
import { notification } from "./http-client.js";

const json = { "Content-Type": "application/json" };

/** Certificates for a source and a sender, in files. */
export async function tlsFiles(context: TestContext) {
  const folder = await tempFolder(context);
  const server = selfSigned("server");
  const client = selfSigned("client");
  const file = async (name: string, content: string) => {
    const whole = path.join(folder, name);
    await writeFile(whole, content);
    return whole;
  };
  const config = {
    tls_key: await file("key.pem", server.key),
    tls_certificate: await file("certificate.pem", server.cert),
  };
  return { config, server, client, clientCa: await file("ca.pem", client.cert) };
}

/** Resolves to the status of the answer. */
export async function sendOverTls(port: number, options: object): Promise<number | undefined> {
  const outgoing = request({
    host: "127.0.0.1",
    port,
    path: "/notify",
    method: "POST",
    headers: json,
    agent: false,
    ...options,
  });
  outgoing.end(notification);
  const [response] = await once(outgoing, "response");
  response.resume();
  return response.statusCode;
}
