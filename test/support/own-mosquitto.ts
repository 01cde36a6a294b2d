import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-port.js";
import { installedProgram } from "./installed-program.js";
import { startOwnProgram } from "./own-program.js";

/** A Mosquitto that belongs to a test or a test run. */
export interface OwnMosquitto {
  readonly host: string;
  readonly port: number;
  /** Ends the broker, as its host going down would, and removes its files. Safe to call twice. */
  readonly stop: () => Promise<void>;
}

export interface MosquittoSettings {
  readonly port?: number;
  /** Further lines of its configuration; without any, everybody may connect. */
  readonly lines?: readonly string[];
}

const HOST = "127.0.0.1";

/** Runs a broker on the loopback interface. Its listener is the first thing in its configuration. */
export async function startOwnMosquitto(program: string, settings: MosquittoSettings = {}): Promise<OwnMosquitto> {
  const { lines = ["allow_anonymous true"] } = settings;
  const port = settings.port ?? (await freePort(HOST));
  const folder = await mkdtemp(join(tmpdir(), "deneb-mosquitto-"));
  const file = join(folder, "mosquitto.conf");
  await writeFile(file, [`user ${userInfo().username}`, `listener ${port} ${HOST}`, ...lines, ""].join("\n"));
  const stop = await startOwnProgram({ program, args: ["-c", file], folder, host: HOST, port });
  return { host: HOST, port, stop };
}

/** Where mosquitto is installed. */
export async function mosquittoProgram(): Promise<string | undefined> {
  return await installedProgram("mosquitto", "/opt/homebrew/opt/mosquitto/sbin");
}
