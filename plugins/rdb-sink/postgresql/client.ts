import { onAbort } from "deneb/sdk";
import type pg from "pg";
import { connectBySslMode, type Encryption } from "../encryption.js";
import type { ServerSettings } from "../server.js";
import { clientConfig, wantsOtherEncryption } from "./connection-config.js";
import { loadPg } from "./load-pg.js";

/** Does the work over a connection of its own, which ends with the work or with the signal. */
export async function withClient<T>(
  settings: ServerSettings,
  work: (client: pg.Client) => Promise<T>,
  signal: AbortSignal = new AbortController().signal,
): Promise<T> {
  signal.throwIfAborted();
  const client = await connectBySslMode(settings.options, {
    connect: (way) => connected(settings, way, signal),
    wantsOther: wantsOtherEncryption,
  });
  const stopListening = onAbort(signal, () => client.connection.stream.destroy());
  try {
    return await work(client);
  } finally {
    stopListening();
    // Else the end would be that of the server, which may be frozen.
    const { stream } = client.connection;
    stream.once("finish", () => stream.destroy());
    await client.end();
  }
}

async function connected(settings: ServerSettings, way: Encryption, signal: AbortSignal): Promise<pg.Client> {
  const { Client } = await loadPg();
  const client = new Client(clientConfig(settings, way));
  // If the connection breaks, the promise of the query rejects too.
  client.on("error", () => undefined);
  const stopListening = onAbort(signal, () => client.connection.stream.destroy());
  try {
    // A socket that was destroyed before would open again.
    signal.throwIfAborted();
    await client.connect();
    return client;
  } finally {
    stopListening();
  }
}
