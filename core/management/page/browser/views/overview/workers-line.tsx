import type { Worker } from "../../live/contract.js";
import { many } from "../../parts/format.js";

/** How many processes of the agent run, and what the others do; nothing for an agent of one process. */
export function WorkersLine({ workers }: { readonly workers: readonly Worker[] | undefined }) {
  if (workers === undefined) return null;
  const away = workers.filter(({ state }) => state !== "running");
  const states = away.map(({ number, state, reason }) => {
    return `worker ${number} is ${state}${reason === undefined ? "" : `: ${reason}`}`;
  });
  return (
    <p class={away.length === 0 ? "muted" : "bad"}>
      {[`${many(workers.length - away.length, "worker")} running`, ...states].join("; ")}
    </p>
  );
}
