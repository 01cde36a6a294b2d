import type { Role } from "./contract.js";
import { Watched } from "./watched.js";

const key = "deneb.token";

export interface Access {
  /** `unknown` until the agent has answered, `none` while it wants another token. */
  readonly role: Role | "unknown" | "none";
  /** What was wrong with the token that was given. */
  readonly problem?: string;
  /** Brokers that calls may reach. */
  readonly brokerTargets: readonly string[];
  /** The version of the agent. */
  readonly version?: string;
  /** When its process was started; another time is another process. */
  readonly started?: string;
}

/** The token of this tab, and what it allows. It is kept until the tab is closed, and nowhere else. */
export class Session extends Watched<Access> {
  readonly #storage = storageOfTab();
  #token = this.#storage?.getItem(key) ?? undefined;

  constructor() {
    super(access("unknown"));
  }

  get token(): string | undefined {
    return this.#token;
  }

  give(token: string): void {
    if (!/^[\x21-\x7e]+$/.test(token)) {
      this.set({ ...access("none"), problem: "A token has letters, digits and signs of ASCII only, and no blanks." });
      return;
    }
    this.#token = token;
    this.#storage?.setItem(key, token);
    this.set(access("unknown"));
  }

  forget(): void {
    this.#drop();
    this.set(access("none"));
  }

  /** The agent does not accept the token, or wants one. */
  refused(): void {
    const had = this.token !== undefined;
    this.#drop();
    this.set(had ? { ...access("none"), problem: "The agent does not know this token." } : access("none"));
  }

  #drop(): void {
    this.#token = undefined;
    this.#storage?.removeItem(key);
  }
}

/** Undefined in a browser that keeps nothing for pages: there a token is gone when the page is loaded again. */
function storageOfTab(): Storage | undefined {
  try {
    return sessionStorage;
  } catch {
    return undefined;
  }
}

function access(role: "unknown" | "none"): Access {
  return { role, brokerTargets: [] };
}

export function mayChange({ role }: Pick<Access, "role">): boolean {
  return role === "open" || role === "admin";
}
