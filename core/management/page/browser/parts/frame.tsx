import type { ComponentChildren } from "preact";
import { live, session } from "../live/page-state.js";
import type { Access } from "../live/session.js";
import { useWatched } from "../live/watched.js";
import { type PageView, views } from "../views/views.js";
import { ConnectionMark } from "./connection-mark.js";
import { moment, shortCount } from "./format.js";

interface FrameParts {
  readonly current: PageView;
  readonly children: ComponentChildren;
}

/** What is in sight in every view: which agent this is, whether the page hears it, and the way to the other views. */
export function Frame({ current, children }: FrameParts) {
  const { snapshot, connection } = useWatched(live);
  const access = useWatched(session);
  const waiting = Object.values(snapshot?.dead_letters ?? {}).reduce((sum, letters) => sum + letters.waiting, 0);
  return (
    <>
      <button type="button" class="skip" onClick={skip}>
        Skip to the view
      </button>
      <header class="masthead">
        <span class="brand">Deneb {snapshot === undefined ? null : <b>{snapshot.agent.name}</b>}</span>
        <Version access={access} />
        <ConnectionMark connection={connection} />
        <Rights access={access} />
        <Newer access={access} />
      </header>
      <nav class="views" aria-label="Views">
        {views.map((view) => (
          <a key={view.path} href={`#/${view.path}`} aria-current={view === current ? "page" : undefined}>
            {view.title}
            {view.path === "dead-letters" && waiting > 0 ? <span class="badge">{shortCount(waiting)}</span> : null}
          </a>
        ))}
      </nav>
      <main>{children}</main>
    </>
  );
}

/** No link: its fragment would open another view. */
function skip(): void {
  document.getElementById("view-title")?.focus();
}

function Rights({ access: { role } }: { readonly access: Access }) {
  if (role !== "read" && role !== "admin") return null;
  return (
    <span>
      {role === "read" ? <span class="mark unknown">Read only</span> : null}{" "}
      <button type="button" class="plain" onClick={() => session.forget()}>
        Forget the token
      </button>
    </span>
  );
}

function Version({ access: { version, started } }: { readonly access: Access }) {
  if (version === undefined) return null;
  return (
    <span class="muted version" title={`${version}, started ${moment(started)}`}>
      {shortVersion(version)}
    </span>
  );
}

/** With the first characters of the revision. */
function shortVersion(version: string): string {
  return version.replace(/\.([0-9a-f]{8})[0-9a-f]{32}$/, " ($1)");
}

let firstVersion: string | undefined;

/** The page belongs to one version of the agent; after an upgrade it must be loaded again. */
function Newer({ access: { version } }: { readonly access: Access }) {
  firstVersion ??= version;
  if (version === undefined || version === firstVersion) return null;
  return (
    <span role="status">
      The agent has another version now.{" "}
      <button type="button" onClick={() => location.reload()}>
        Load the page again
      </button>
    </span>
  );
}
