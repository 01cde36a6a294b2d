import { parentPort, workerData } from "node:worker_threads";
import { sqliteAnswer } from "./sqlite-answer.js";
import { SqliteFiles } from "./sqlite-files.js";
import type { SqliteRequest } from "./sqlite-messages.js";

const files = new SqliteFiles(String(workerData));

parentPort?.on("message", (request: SqliteRequest) => parentPort?.postMessage(sqliteAnswer(files, request)));
