/** The statements on the way to PostgreSQL, in the order in which the server completes them. */
export class SentStatements {
  /** Texts by the name of the prepared statement. */
  readonly #prepared = new Map<string, string>();
  /** Texts by the name of the portal. */
  readonly #bound = new Map<string, string>();
  #waiting: Sent[] = [];

  /** A message to the server. */
  sent(type: string, body: Buffer): void {
    const [first = "", second = ""] = body.toString("latin1").split("\0", 2);
    if (type === "P") this.#prepared.set(first, second);
    if (type === "B") this.#bound.set(first, this.#prepared.get(second) ?? "");
    if (type === "E") this.#waiting.push({ text: this.#bound.get(first) ?? "", kind: "executed" });
    if (type === "S") this.#waiting.push({ text: "", kind: "sync" });
    if (type === "Q") this.#waiting.push({ text: first, kind: "simple" });
  }

  /** Text of the statement that the server has completed now; a simple query may have several. */
  completed(): string {
    const [next] = this.#waiting;
    if (next?.kind === "executed") this.#waiting.shift();
    return next?.text ?? "";
  }

  /** The server is ready again: what it did not execute up to here it will not execute. */
  ready(): void {
    const end = this.#waiting.findIndex(({ kind }) => kind !== "executed");
    this.#waiting = this.#waiting.slice(end + 1);
  }
}

interface Sent {
  readonly text: string;
  readonly kind: "executed" | "sync" | "simple";
}
