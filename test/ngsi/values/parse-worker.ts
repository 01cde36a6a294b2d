import { parentPort, workerData } from "node:worker_threads";
import { decode } from "../../../core/ngsi/decode/decode.js";

// Decodes the text that a test gives to this thread, and says how many entities it has.
const { entities } = decode("auto", workerData, {});
parentPort?.postMessage(entities.length);
