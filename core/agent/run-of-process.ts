import { randomBytes } from "node:crypto";
import { hostname } from "node:os";

/** Names this run of the agent for stores that several agents write to. Made once: what one process does has one name. */
export const runOfProcess: string = [
  hostname().replaceAll(",", "_"),
  process.pid,
  new Date(Date.now() - Math.round(process.uptime() * 1000)).toISOString(),
  randomBytes(8).toString("hex"),
].join(",");
