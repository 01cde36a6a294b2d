import { useEffect, useRef, useState } from "preact/hooks";
import { session } from "../live/page-state.js";
import { useWatched } from "../live/watched.js";
import { Field } from "./field.js";
import { Notice, View } from "./small.js";

/** Asks for the token that the agent wants. */
export function TokenForm() {
  const { problem } = useWatched(session);
  const [token, setToken] = useState("");
  const form = useRef<HTMLFormElement>(null);
  // What had the focus, a button or the previous form, is gone.
  useEffect(() => form.current?.querySelector("input")?.focus(), [problem]);
  return (
    <View title="This agent needs a token">
      <p>
        A read token shows the page, an admin token changes things, too. It is kept in this tab until you close it or
        forget it, and is sent to this agent only.
      </p>
      {problem === undefined ? null : <Notice kind="bad">{problem}</Notice>}
      <form
        class="form"
        ref={form}
        onSubmit={(event) => {
          event.preventDefault();
          session.give(token.trim());
        }}
      >
        <Field label="Token" type="password" value={token} onValue={setToken} required />
        <div class="actions">
          <button type="submit" class="primary" disabled={token.trim() === ""}>
            Open
          </button>
        </div>
      </form>
    </View>
  );
}
