import type { DatabaseError, ServerAddress } from "deneb/sql";

/** What an error means, for people: a dialect has a list of them, of which the first that fits is used. */
export interface Explanation {
  when(error: DatabaseError): boolean;
  say(server: ServerAddress, error: DatabaseError): string;
}

/** How a dialect describes its server in a message. */
export type Described = (server: ServerAddress) => string;

/** What the first explanation that fits says, or what was being done and what the error itself says. */
export function explainedBy(explanations: readonly Explanation[], described: Described) {
  return (error: DatabaseError, server: ServerAddress): string => {
    const known = explanations.find(({ when }) => when(error));
    const doing = error.opening === true ? "connecting to" : "working with";
    return known?.say(server, error) ?? `${doing} ${described(server)} failed: ${error.message}`;
  };
}

/** Whether an error has one of these codes. */
export function coded(...codes: readonly string[]): (error: Pick<DatabaseError, "code">) => boolean {
  return ({ code }) => code !== undefined && codes.includes(code);
}

/** The message, for what follows it behind a semicolon. */
export function withoutStop(message: string): string {
  return message.replace(/\.$/, "");
}
