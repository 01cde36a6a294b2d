import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import path from "node:path";
import type { TestContext } from "node:test";
import { ManagementServer } from "../../../core/management/management-server.js";
import { gateway } from "../../../core/management/workers/gateway.js";
import type { WorkerView } from "../../../core/management/workers/team.js";
import { recordingLog } from "../../support/recording-log.js";
import { caller, type ManagementSetting, runningManagement } from "../../support/running-management.js";
import { tempFolder } from "../../support/temp-folder.js";

/** When the workers of the tests began. */
export const since = new Date("2026-01-15T10:00:00.000Z");

export interface TeamSetting {
  /** What is asked of the gateway; everybody may do everything when absent. */
  readonly access?: ManagementSetting["access"];
  /** One for each worker. */
  readonly workers: readonly ManagementSetting[];
}

export type RunningWorker = Awaited<ReturnType<typeof runningWorker>>;

/** Workers with a gateway over them, until the test ends. */
export async function runningTeam(context: TestContext, { access, workers: settings }: TeamSetting) {
  const folder = await tempFolder(context);
  const running = await Promise.all(
    settings.map((setting, index) => runningWorker(context, setting, path.join(folder, `${index + 1}.sock`))),
  );
  const views = running.map(({ socket }, index) => viewOf(index + 1, socket));
  const team = { workers: views };
  const { log, lines } = recordingLog();
  const parts = { tokens: { read: [], admin: [] }, tls: false, hosts: [], page: true, bodyLimit: 1_048_576 };
  const { app, end } = gateway({
    team,
    version: "1.2.3.abc",
    access: { ...parts, ...access },
    log,
    brokerMillis: 100_000,
  });
  const server = new ManagementServer(app, { host: "127.0.0.1", port: 0 }, log);
  server.whenStopping(end);
  await server.start();
  context.after(() => server.stop(AbortSignal.abort()));
  /** Changes what the supervisor knows of a worker. */
  const change = (number: number, view: Partial<WorkerView>) => {
    team.workers = team.workers.map((one) => (one.number === number ? { ...one, ...view } : one));
  };
  return { workers: running, change, lines, port: server.port, end, call: caller(server.port) };
}

/** An agent whose management interface is on a socket. */
async function runningWorker(context: TestContext, setting: ManagementSetting, socket: string) {
  const worker = await runningManagement(context, { ...setting, access: { ...setting.access, trusted: true } });
  let server = await listening(createServer(worker.app), socket);
  const close = async () => {
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  };
  context.after(() => (server.listening ? close() : undefined));
  /** Serves something else on its socket, after it was closed. */
  const serve = async (listener: RequestListener) => {
    server = await listening(createServer(listener), socket);
  };
  const accept = async (service = "openiot") => {
    const [source] = worker.agent.assembly.sources;
    const headers = { "fiware-service": service, timestamp: "1768472430000" };
    await source?.processor.emit([{ headers, body: { id: "Room1", type: "Room" } }]);
  };
  return { ...worker, socket, close, serve, accept };
}

export async function listening(server: Server, socket: string): Promise<Server> {
  server.listen(socket);
  await once(server, "listening");
  return server;
}

export function viewOf(number: number, socket = ""): WorkerView {
  return { number, state: "running", pid: 1000 + number, since, reason: undefined, receives: true, socket };
}
