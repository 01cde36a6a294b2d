import { definePlugin } from "deneb/sdk";
import { checkEventLines, eventLinesSchema } from "./config.js";
import { eventLines } from "./event-lines.js";

export default definePlugin({
  apiVersion: 1,
  kind: "sink",
  type: "event-lines",
  summary: "Appends each event as a line of JSON to a file.",
  stability: "beta",
  config: eventLinesSchema,
  check: checkEventLines,
  create: eventLines,
});
