import { readFile } from "node:fs/promises";
import { onAbort, readTlsFiles, type TlsClientOptions } from "deneb/sdk";
import type { IClientOptions, MqttClient } from "mqtt";
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

/** Takes leave of the broker; one that hangs does not close the connection, which is then destroyed. */
export async function ended(client: MqttClient, signal: AbortSignal): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    client.stream.once("close", resolve);
  });
  const stopListening = onAbort(signal, () => client.stream.destroy());
  await Promise.race([client.endAsync(signal.aborted || !client.connected), closed]);
  stopListening();
}

/** Resolves when the work is done, or the signal aborts. */
export async function workOrAbort(work: Promise<void>, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const stopListening = onAbort(signal, resolve);
    work.then(resolve, reject).finally(stopListening);
  });
}
