import { parentPort, workerData } from "node:worker_threads";
import { sqliteAnswer } from "./answer.js";
import { SqliteFiles } from "./files.js";
import type { SqliteRequest } from "./messages.js";

const files = new SqliteFiles(String(workerData));

parentPort?.on("message", (request: SqliteRequest) => parentPort?.postMessage(sqliteAnswer(files, request)));
