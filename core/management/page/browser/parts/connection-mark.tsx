import { useEffect, useState } from "preact/hooks";
import type { Connection } from "../live/live-agent.js";
import { live } from "../live/page-state.js";

/** Whether the page hears the agent. Read out when it is lost and when it is back. */
export function ConnectionMark({ connection }: { readonly connection: Connection }) {
  const { state } = connection;
  const [wasLost, setWasLost] = useState(false);
  useEffect(() => {
    if (state === "lost") setWasLost(true);
  }, [state]);
  return (
    <span class="connection">
      {state === "live" ? <span class="mark up">Live</span> : null}
      {state === "connecting" ? <span class="mark unknown">Connecting …</span> : null}
      {state === "waiting for a token" ? <span class="mark unknown">Token needed</span> : null}
      {connection.state === "lost" ? <Lost reason={connection.reason} retryAt={connection.retryAt} /> : null}
      <span class="hidden" role="status">
        {state === "lost" ? "The connection to the agent is lost." : null}
        {state === "live" && wasLost ? "The agent is heard again." : null}
      </span>
    </span>
  );
}

/** What is shown is old now, and when the page tries again. */
function Lost({ reason, retryAt }: { readonly reason: string; readonly retryAt: number }) {
  const [, setTick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setTick((tick) => tick + 1), 500);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(0, Math.ceil((retryAt - Date.now()) / 1000));
  return (
    <>
      <span class="mark down">Connection lost</span> <span>{reason} What you see is from before.</span>{" "}
      <span class="muted">{seconds === 0 ? "Trying …" : `Next try in ${seconds} s.`}</span>{" "}
      <button type="button" class="plain" onClick={() => live.restart()}>
        Try now
      </button>
    </>
  );
}
