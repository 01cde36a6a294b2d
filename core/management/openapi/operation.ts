/** One operation as the document describes it. */
export interface Operation {
  readonly summary: string;
  readonly parameters?: readonly object[];
  readonly requestBody?: object;
  /** By status. */
  readonly responses: Readonly<Record<string, object>>;
  /** Empty for an operation that asks for no token. */
  readonly security?: readonly [];
}

/** By path, then by method in lower case. */
export type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

/** An operation in the envelope; the answers that any call may get are added. */
export function operation(description: Operation): Operation {
  return { ...description, responses: { ...description.responses, ...refusals } };
}

/** An operation that asks for no token. */
export function openOperation(description: Operation): Operation {
  const { "401": _token, ...others } = refusals;
  return { ...description, responses: { ...description.responses, ...others }, security: [] };
}

export function answer(description: string, schema: object): object {
  return { description, content: { "application/json": { schema } } };
}

export function failure(description: string): object {
  return answer(description, schemaRef("Failure"));
}

export function schemaRef(name: string): object {
  return { $ref: `#/components/schemas/${name}` };
}

export function queryParameter(name: string, description: string, schema: object, required = false): object {
  return { name, in: "query", required, description, schema };
}

const refusals = {
  "401": failure("Tokens are configured and the request has none of them. Wrong ones are answered late, or with 429."),
  "403": failure("The token may only read, the call comes from a page in a browser, or the broker is not allowed."),
  "421": failure("The header Host names a host that the interface does not have; see --management-hosts."),
  "413": failure("The body is larger than --management-body-limit."),
} as const;
