import { httpAgent } from "./http-agent.js";

/** The properties of an agent with a memory channel and the logger sink; its names are those of {@link httpAgent}. */
export const loggingAgent = httpAgent({ channel: "memory", sink: "logger" });
