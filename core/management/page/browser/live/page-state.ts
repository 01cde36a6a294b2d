import { AgentCalls } from "./agent-calls.js";
import { LiveAgent } from "./live-agent.js";
import { Session } from "./session.js";

/** What all views of the page share. */
export const session = new Session();
export const calls = new AgentCalls(session);
export const live = new LiveAgent(calls, session);
