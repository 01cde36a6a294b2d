import type { Partition } from "../../live/contract.js";

/** The run of an agent begins with its host and its process. */
export function workerOf({ agent, mine }: Pick<Partition, "agent" | "mine">): string {
  if (mine) return "this one";
  if (agent === undefined) return "none";
  const [host = "", process = ""] = agent.split(",");
  return process === "" ? host : `${host}, process ${process}`;
}
