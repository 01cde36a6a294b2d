import type { ComponentChildren } from "preact";
import type { Health } from "../live/contract.js";
import { session } from "../live/page-state.js";
import { mayChange } from "../live/session.js";
import { useWatched } from "../live/watched.js";

const words: Readonly<Record<Health, string>> = { up: "Up", degraded: "Degraded", down: "Down" };

/** The health in a word and a shape, so that its color is not needed. */
export function HealthMark({ health }: { readonly health: Health | undefined }) {
  if (health === undefined) return <span class="mark unknown">Unknown</span>;
  return <span class={`mark ${health}`}>{words[health] ?? String(health)}</span>;
}

export interface Fact {
  readonly name: string;
  readonly value: ComponentChildren;
}

/** Names and values below each other. */
export function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl class="facts">
      {facts.map(({ name, value }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

interface NoticeParts {
  readonly kind?: "info" | "good" | "warning" | "bad";
  readonly children: ComponentChildren;
}

/** A message in the text of a view; problems are read out at once. */
export function Notice({ kind = "info", children }: NoticeParts) {
  return (
    <div class={`notice ${kind}`} role={kind === "bad" ? "alert" : "status"}>
      {children}
    </div>
  );
}

/** What went wrong with a call; nothing when it did not. */
export function Failure({ failure }: { readonly failure: Error | undefined }) {
  return failure === undefined ? null : <Notice kind="bad">{failure.message}</Notice>;
}

interface ChangingParts {
  /** The beginning of the sentence that a reader without the right gets: `Replaying and dropping`. */
  readonly what: string;
  readonly children: ComponentChildren;
}

/** Controls that need the right to change something; with a read token a sentence in their place. */
export function Changing({ what, children }: ChangingParts) {
  const access = useWatched(session);
  if (mayChange(access)) return <>{children}</>;
  return <p class="read-only">{what} needs an admin token. Yours may only read.</p>;
}

interface ViewParts {
  readonly title: string;
  readonly children: ComponentChildren;
}

/** A view with its heading, which gets the focus when the view is opened. */
export function View({ title, children }: ViewParts) {
  return (
    <>
      <h1 tabIndex={-1} id="view-title">
        {title}
      </h1>
      {children}
    </>
  );
}

interface WideParts {
  /** Says what a keyboard user scrolls. */
  readonly label: string;
  readonly children: ComponentChildren;
}

/** A part that scrolls sideways by itself when the screen is narrow. */
export function Wide({ label, children }: WideParts) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls must be reached by keyboard
    <section class="wide" aria-label={label} tabIndex={0}>
      {children}
    </section>
  );
}

interface TableParts {
  readonly label: string;
  readonly columns: readonly string[];
  /** Columns of numbers, behind the others. */
  readonly numbers?: readonly string[];
  /** The rows. */
  readonly children: ComponentChildren;
}

/** A table that scrolls sideways by itself when the screen is narrow. */
export function Table({ label, columns, numbers = [], children }: TableParts) {
  return (
    <Wide label={label}>
      <table>
        <thead>
          <tr>
            {columns.map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
            {numbers.map((title) => (
              <th key={title} scope="col" class="right">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </Wide>
  );
}
