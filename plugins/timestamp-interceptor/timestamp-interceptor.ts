import type { Context, Event, Interceptor } from "deneb/sdk";
import type { TimestampConfig } from "./config.js";

export class TimestampInterceptor implements Interceptor {
  readonly #header: string;
  readonly #preserve: boolean;
  readonly #clock: Context;

  constructor(config: TimestampConfig, clock: Context) {
    this.#header = config.headerName.toLowerCase();
    this.#preserve = config.preserveExisting;
    this.#clock = clock;
  }

  intercept(event: Event): Event {
    if (this.#preserve && Object.hasOwn(event.headers, this.#header)) return event;
    const time = String(this.#clock.now().getTime());
    return { headers: { ...event.headers, [this.#header]: time }, body: event.body };
  }
}
