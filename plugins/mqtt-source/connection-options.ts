import { readFile } from "node:fs/promises";
import { readTlsFiles, type TlsClientOptions } from "deneb/sdk";
import type { IClientOptions } from "mqtt";
import type { MqttConfig } from "./config.js";

const MQTT_3_1_1 = 4;

/** The options of a connection; reads the certificate files. Rejects with code `CERTIFICATE_UNREADABLE`. */
export async function connectionOptions(config: MqttConfig, source: string): Promise<IClientOptions> {
  const { username, password } = config;
  return {
    ...(await tlsOptions(config, source)),
    protocolVersion: MQTT_3_1_1,
    clientId: config.client_id === "" ? `deneb-${source}` : config.client_id,
    clean: config.clean_session,
    keepalive: config.keepalive,
    connectTimeout: config.connect_timeout,
    reconnectPeriod: config.reconnect_interval,
    // The user may be created at the broker later.
    reconnectOnConnackError: true,
    // The source itself subscribes, at every connection.
    resubscribe: false,
    manualConnect: true,
    ...(username === "" ? {} : { username }),
    ...(password === "" ? {} : { password }),
  };
}

/** What is in the certificate files now. Rejects with code `CERTIFICATE_UNREADABLE`. */
export async function tlsOptions(config: MqttConfig, source: string): Promise<TlsClientOptions<Buffer>> {
  return await readTlsFiles(config, `source "${source}"`, (file) => readFile(file));
}
