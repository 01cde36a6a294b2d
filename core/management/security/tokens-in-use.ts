import { FailureLog, followFiles, type Logger } from "../../sdk/index.js";
import type { AccessTokens } from "./access.js";

/** The tokens that calls may use now. */
export class TokensInUse implements AccessTokens {
  #tokens: AccessTokens;

  constructor(tokens: AccessTokens) {
    this.#tokens = tokens;
  }

  get read(): readonly string[] {
    return this.#tokens.read;
  }

  get admin(): readonly string[] {
    return this.#tokens.admin;
  }

  /** Files that were replaced count for the calls that come then; while one cannot be read, or is empty, all tokens stay. Returns what ends it. */
  follow(read: () => Promise<AccessTokens>, log: Logger, lookMillis?: number): () => void {
    const failures = new FailureLog(log, "the files of tokens can be read again");
    const followed = {
      read,
      first: this.#tokens,
      use: (tokens: AccessTokens) => {
        this.#tokens = tokens;
        log.info({}, "the files of tokens were replaced, and are in use");
      },
      looked: (error?: unknown) => {
        if (error === undefined) failures.works();
        else failures.failed("error", error, { message: "the tokens that were read before stay in use" });
      },
    };
    return followFiles(followed, lookMillis);
  }
}
