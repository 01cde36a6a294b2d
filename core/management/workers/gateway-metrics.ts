import type { Call } from "./call.js";
import { askAll, isOk } from "./call.js";
import { joinedMetrics } from "./joined/exposition.js";
import { runningIn, type Team } from "./team.js";

/** Milliseconds that a worker has for its metrics; Prometheus waits ten seconds by default. */
const LONGEST_SCRAPE = 8000;
const states = ["starting", "running", "silent", "restarting", "stopping"] as const;

/** The metrics of the supervisor, and those of all workers beside them. */
export class GatewayMetrics {
  #wrongTokens = 0;

  countWrongToken(): void {
    this.#wrongTokens += 1;
  }

  /** Where no worker answers, the states of all are shown nevertheless. */
  readonly answer = async (call: Call): Promise<void> => {
    const asked = await askAll(call, runningIn(call.team), { limit: LONGEST_SCRAPE });
    const texts = asked.flatMap(({ worker, answer }) =>
      answer !== undefined && isOk(answer.status) ? [{ worker: worker.number, text: answer.body.toString() }] : [],
    );
    const text = joinedMetrics([...texts, { worker: undefined, text: this.#own(call.team) }]);
    call.response.set("Content-Type", "text/plain; version=0.0.4; charset=utf-8").end(text);
  };

  #own({ workers }: Team): string {
    const counts = states.map((state) => {
      return `deneb_workers{state="${state}"} ${workers.filter((one) => one.state === state).length}`;
    });
    return [
      "# HELP deneb_workers Processes of the agent by state: starting, running, silent, restarting or stopping.",
      "# TYPE deneb_workers gauge",
      ...counts,
      "# HELP deneb_management_wrong_tokens_total Calls of the management interface with a wrong token.",
      "# TYPE deneb_management_wrong_tokens_total counter",
      `deneb_management_wrong_tokens_total ${this.#wrongTokens}`,
    ].join("\n");
  }
}
