import { many, moment } from "../../parts/format.js";
import { Wide } from "../../parts/small.js";
import type { Letter } from "./letter-calls.js";

interface TableParts {
  readonly letters: readonly Letter[];
  /** Whether these are all; a search of a large store may have found none so far. */
  readonly isComplete: boolean;
  /** Ids. */
  readonly ticked: ReadonlySet<string>;
  readonly onTick: (ticked: ReadonlySet<string>) => void;
  readonly onLook: (letter: Letter) => void;
}

export function LetterTable({ letters, isComplete, ticked, onTick, onLook }: TableParts) {
  if (letters.length === 0) {
    return (
      <p>{isComplete ? "No dead letter matches." : "No dead letter matches so far. The search is not at its end."}</p>
    );
  }
  const all = letters.every(({ id }) => ticked.has(id));
  const tickOne = (id: string) => {
    const others = [...ticked].filter((one) => one !== id);
    onTick(new Set(ticked.has(id) ? others : [...others, id]));
  };
  return (
    <Wide label="Dead letters">
      <table class="stacked">
        <caption class="hidden">{many(letters.length, "dead letter")}, newest first</caption>
        <thead>
          <tr>
            <th scope="col">
              <input
                type="checkbox"
                aria-label="Tick all of the list"
                checked={all}
                onChange={() => onTick(new Set(all ? [] : letters.map(({ id }) => id)))}
              />
            </th>
            <th scope="col">Kept</th>
            <th scope="col">Entity</th>
            <th scope="col">Sink</th>
            <th scope="col">Why</th>
            <th scope="col">State</th>
          </tr>
        </thead>
        <tbody>
          {letters.map((letter) => (
            <Row
              key={letter.id}
              letter={letter}
              ticked={ticked.has(letter.id)}
              onTick={() => tickOne(letter.id)}
              onLook={() => onLook(letter)}
            />
          ))}
        </tbody>
      </table>
    </Wide>
  );
}

interface RowParts {
  readonly letter: Letter;
  readonly ticked: boolean;
  readonly onTick: () => void;
  readonly onLook: () => void;
}

function Row({ letter, ticked, onTick, onLook }: RowParts) {
  const { id, time, sink, state, reason, code, message, service, servicePath, entityId, entityType, replays } = letter;
  return (
    <tr>
      <td>
        <input type="checkbox" aria-label={`Tick ${entityId ?? id}`} checked={ticked} onChange={onTick} />
      </td>
      <td class="nowrap">{moment(time)}</td>
      <td>
        <button type="button" class="link entity" onClick={onLook}>
          {entityId ?? id}
        </button>
        <div class="muted">
          {[entityType, service, servicePath].filter((one) => one !== undefined && one !== "").join(" · ")}
        </div>
      </td>
      <td>{sink}</td>
      <td>
        <div>
          {reason} {code === undefined ? null : <code>{code}</code>}
        </div>
        <div class="muted message">{message}</div>
      </td>
      <td class="nowrap">
        {state}
        {(replays ?? 0) > 0 ? <div class="muted">{many(replays ?? 0, "replay")}</div> : null}
      </td>
    </tr>
  );
}
