import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-port.js";
import { installedProgram } from "./installed-program.js";
import { reachable } from "./reachable.js";
import { until } from "./until.js";

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
  const broker = spawn(program, ["-c", file], { cwd: folder, stdio: "ignore" });
  const exited = once(broker, "exit").catch(() => undefined);
  const stop = async (): Promise<void> => {
    broker.kill("SIGKILL");
    await exited;
    await rm(folder, { recursive: true, force: true });
  };
  const gone = exited.then(() => {
    throw new Error(`mosquitto ended at its start with the settings ${lines.join("; ")}`);
  });
  gone.catch(() => undefined);
  try {
    const up = until(
      () => reachable(HOST, port),
      (answers) => answers,
      5000,
    );
    await Promise.race([up, gone]);
    return { host: HOST, port, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Where mosquitto is installed. */
export async function mosquittoProgram(): Promise<string | undefined> {
  return await installedProgram("mosquitto", "/opt/homebrew/opt/mosquitto/sbin");
}
