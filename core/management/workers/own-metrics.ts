import type { Team } from "./team.js";

const states = ["starting", "running", "restarting", "stopping"] as const;

/** What the supervisor itself measures. */
export class OwnMetrics {
  readonly #team: Team;
  #wrongTokens = 0;

  constructor(team: Team) {
    this.#team = team;
  }

  countWrongToken(): void {
    this.#wrongTokens += 1;
  }

  /** In the text format of Prometheus. */
  text(): string {
    const { workers } = this.#team;
    const count = (state: string) => workers.filter((worker) => worker.state === state).length;
    return [
      "# HELP deneb_workers Workers of the agent by state.",
      "# TYPE deneb_workers gauge",
      ...states.map((state) => `deneb_workers{state="${state}"} ${count(state)}`),
      "# HELP deneb_management_wrong_tokens_total Calls with a token that is not configured.",
      "# TYPE deneb_management_wrong_tokens_total counter",
      `deneb_management_wrong_tokens_total ${this.#wrongTokens}`,
      "",
    ].join("\n");
  }
}
