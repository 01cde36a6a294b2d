import { setImmediate, setTimeout } from "node:timers/promises";
import { AgentError, reasonOf } from "../sdk/index.js";
import { caseLog } from "../testing/component-fixture.js";
import type { ConformanceCase } from "../testing/index.js";
import type { Terminal } from "./command.js";
import { placesOf } from "./plugin-places.js";

/** Runs cases one after the other and prints what comes of them; an error that nobody catches fails the running one. */
export class CaseRunner {
  readonly #terminal: Terminal;
  /** Takes a stray error while a case runs. */
  #take: ((error: unknown) => void) | undefined;
  #outside = 0;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
    terminal.onStrayError?.((error) => {
      if (this.#take === undefined) this.#failOutside(error);
      else this.#take(error);
      return true;
    }, []);
  }

  /** Errors that nobody caught while no case ran. */
  get outside(): number {
    return this.#outside;
  }

  /** The name comes first: of a case that never ends, and of a plugin that ends the process, it is all there is to see. */
  async failureOf({ name, run }: ConformanceCase): Promise<string | undefined> {
    this.#terminal.out(`run ${name}`);
    const logged: string[] = [];
    try {
      await this.#watched(() => caseLog.run(logged, run));
      this.#terminal.out(`ok ${name}`);
      return undefined;
    } catch (error) {
      const reason = reasonOf(error);
      this.#terminal.out(`not ok ${name}: ${reason}`);
      for (const place of placesOf(error)) this.#terminal.out(`  ${place}`);
      for (const line of logged.slice(-MOST_LINES)) this.#terminal.out(`  logged: ${line}`);
      return reason;
    }
  }

  /** Rejects with a stray error rather than with what followed from it, a moment after it at the latest. */
  async #watched(run: () => Promise<void>): Promise<void> {
    const strays: unknown[] = [];
    const ended = new AbortController();
    const stray = new Promise<void>((resolve) => {
      this.#take = (error) => {
        strays.push(strayError(error));
        const given = setTimeout(MILLIS_AFTER_STRAY, undefined, { signal: ended.signal });
        given.then(() => resolve(), resolve);
      };
    });
    try {
      await Promise.race([run(), stray]);
    } catch (error) {
      strays.push(error);
    }
    // Node reports a rejection that nobody awaited when the event loop turns.
    await setImmediate();
    ended.abort();
    this.#take = undefined;
    if (strays.length > 0) throw strays[0];
  }

  #failOutside(error: unknown): void {
    this.#outside += 1;
    this.#terminal.out(`not ok outside of a case: ${reasonOf(strayError(error))}`);
    for (const place of placesOf(error)) this.#terminal.out(`  ${place}`);
  }
}

const MILLIS_AFTER_STRAY = 1000;
const MOST_LINES = 20;

function strayError(cause: unknown): AgentError {
  return new AgentError(
    "NOT_CONFORMING",
    "nobody caught an error of the plugin: a promise that is not awaited, a throw in a timer, or an error event without listener",
    { cause, retryable: false },
  );
}
