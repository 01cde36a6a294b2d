import type { Finding } from "../../live/contract.js";
import { duration, moment, secondsBetween } from "../../parts/format.js";

interface FindingsParts {
  readonly findings: readonly Finding[];
  readonly now: string;
}

/** Why a component is not up, and since when. */
export function Findings({ findings, now }: FindingsParts) {
  if (findings.length === 0) return null;
  return (
    <ul class="findings">
      {findings.map(({ state, reason, since }) => (
        <li key={`${state}${reason}`} class={state === "down" ? "bad" : "warning"}>
          {reason} <Since since={since} now={now} />
        </li>
      ))}
    </ul>
  );
}

function Since({ since, now }: { readonly since: string; readonly now: string }) {
  const seconds = secondsBetween(since, now);
  return (
    <span class="muted">
      since {moment(since)}
      {seconds === undefined ? "" : ` (${duration(seconds)})`}
    </span>
  );
}
