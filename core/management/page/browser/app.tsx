import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { session } from "./live/page-state.js";
import { useWatched } from "./live/watched.js";
import { Frame } from "./parts/frame.js";
import { Notice, View } from "./parts/small.js";
import { TokenForm } from "./parts/token-form.js";
import { ViewBoundary } from "./parts/view-boundary.js";
import { type PageView, views } from "./views/views.js";

/** The page: the frame with what is always in sight, and one view that the part of the address behind # names. */
export function App() {
  const view = useView();
  const { role } = useWatched(session);
  return (
    <Frame current={view}>
      {role === "none" ? (
        <TokenForm />
      ) : (
        <ViewBoundary key={view.path}>
          <LoadedView view={view} />
        </ViewBoundary>
      )}
    </Frame>
  );
}

/** A view, loaded when it is opened. */
function LoadedView({ view: { title, load } }: { readonly view: PageView }) {
  const [loaded, setLoaded] = useState<{ readonly Loaded: ComponentType } | undefined>(undefined);
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    load().then(
      (Loaded) => setLoaded({ Loaded }),
      () => setFailed(true),
    );
  }, [load]);
  useEffect(() => {
    // A keyboard or a screen reader goes on at the heading of the view that a link opened.
    if (loaded === undefined || !focusWanted) return;
    focusWanted = false;
    document.getElementById("view-title")?.focus();
  }, [loaded]);
  if (failed) return <Notice kind="bad">{title} cannot be loaded from the agent. Load the page again.</Notice>;
  if (loaded !== undefined) return <loaded.Loaded />;
  return (
    <View title={title}>
      <p>Loading …</p>
    </View>
  );
}

let focusWanted = false;

function useView(): PageView {
  const [view, setView] = useState(viewAt(location.hash));
  useEffect(() => {
    const change = () => {
      focusWanted = true;
      setView(viewAt(location.hash));
    };
    addEventListener("hashchange", change);
    return () => removeEventListener("hashchange", change);
  }, []);
  useEffect(() => {
    document.title = `${view.title} – Deneb`;
  }, [view]);
  return view;
}

function viewAt(hash: string): PageView {
  const path = hash.replace(/^#\/?/, "").split("?", 1).join();
  return views.find((view) => view.path === path) ?? views[0];
}
