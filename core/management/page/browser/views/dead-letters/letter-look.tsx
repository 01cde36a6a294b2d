import { useEffect } from "preact/hooks";
import { session } from "../../live/page-state.js";
import { mayChange } from "../../live/session.js";
import { Dialog } from "../../parts/dialog.js";
import { count, moment } from "../../parts/format.js";
import { type Fact, Facts, Failure } from "../../parts/small.js";
import { useCall } from "../../parts/use-call.js";
import { Code, indented } from "../explanation.js";
import { type Letter, lookAtLetter } from "./letter-calls.js";

interface LookParts {
  readonly letter: Letter;
  readonly onClose: () => void;
}

/** One dead letter with its event. */
export function LetterLook({ letter, onClose }: LookParts) {
  const { running, result, failure, run } = useCall<undefined, Letter>((_given, signal) =>
    lookAtLetter(letter, signal),
  );
  const isAllowed = mayChange(session.value);
  useEffect(() => {
    if (isAllowed) void run(undefined);
  }, []);
  const { message, event } = result ?? letter;
  return (
    <Dialog title={`Dead letter of ${letter.entityId ?? letter.id}`} onClose={onClose}>
      <p class="message">{message}</p>
      <Facts facts={factsOf(result ?? letter)} />
      <Failure failure={failure} />
      {running ? <p>Reading the event …</p> : null}
      {isAllowed ? null : <p class="read-only">The event needs an admin token. Yours may only read.</p>}
      {event === undefined ? null : <Code text={indented(event)} label="The event" />}
    </Dialog>
  );
}

function factsOf(letter: Letter): readonly Fact[] {
  const facts = [
    { name: "Kept", value: moment(letter.time) },
    { name: "Sink", value: letter.sink },
    { name: "Table", value: letter.table },
    { name: "Reason", value: letter.reason },
    { name: "Code", value: letter.code },
    { name: "State", value: letter.state },
    { name: "Attempts", value: letter.attempts === undefined ? undefined : count(letter.attempts) },
    { name: "Replays", value: letter.replays === undefined ? undefined : count(letter.replays) },
    { name: "Agent", value: letter.agent },
    { name: "Service", value: letter.service },
    { name: "Service path", value: letter.servicePath },
    { name: "Entity type", value: letter.entityType },
    { name: "Id", value: letter.id },
  ];
  return facts.filter(({ value }) => value !== undefined && value !== "");
}
