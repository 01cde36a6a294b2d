import { AgentError } from "../sdk/index.js";

/** A management call that is answered with this status and payload, and success 'false'. */
export class RefusedCall extends AgentError {
  readonly status: number;
  readonly payload: object;

  constructor(status: number, payload: object, options?: ErrorOptions) {
    super("CALL_REFUSED", `answering a management call with status ${status}`, { ...options, retryable: false });
    this.status = status;
    this.payload = payload;
  }
}

/** What the caller did wrong. */
export function badRequest(error: string): RefusedCall {
  return new RefusedCall(400, { error });
}

export function malformedJson(): RefusedCall {
  return badRequest("Parse error, malformed Json. Check it for errors");
}
