import { readFile } from "node:fs/promises";
import { AgentError, codeOf } from "deneb/sdk";
import type { IClientOptions } from "mqtt";
import type { MqttConfig } from "./config.js";

const MQTT_3_1_1 = 4;

/** How to connect; reads the certificate files. Rejects with code `CERTIFICATE_UNREADABLE`. */
export async function connectionOptions(config: MqttConfig, source: string): Promise<IClientOptions> {
  const { username, password } = config;
  return {
    ...(await certificates(config, source)),
    rejectUnauthorized: config.tls_verify,
    protocolVersion: MQTT_3_1_1,
    clientId: config.client_id === "" ? `deneb-${source}` : config.client_id,
    clean: config.clean_session,
    keepalive: config.keepalive,
    connectTimeout: config.connect_timeout,
    reconnectPeriod: config.reconnect_interval,
    // A broker that refuses today may have got the user by tomorrow.
    reconnectOnConnackError: true,
    // The source itself subscribes, at every connection.
    resubscribe: false,
    manualConnect: true,
    ...(username === "" ? {} : { username }),
    ...(password === "" ? {} : { password }),
  };
}

async function certificates(config: MqttConfig, source: string): Promise<IClientOptions> {
  const ca = await contents("tls_ca_file", config.tls_ca_file, source);
  const cert = await contents("tls_cert_file", config.tls_cert_file, source);
  const key = await contents("tls_key_file", config.tls_key_file, source);
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  };
}

async function contents(property: string, path: string, source: string): Promise<Buffer | undefined> {
  if (path === "") return undefined;
  try {
    return await readFile(path);
  } catch (cause) {
    const reason = `reading the file "${path}" of its property "${property}" (${codeOf(cause)})`;
    throw new AgentError("CERTIFICATE_UNREADABLE", `starting source "${source}": ${reason}`, {
      cause,
      retryable: false,
    });
  }
}
