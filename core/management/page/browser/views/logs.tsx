import { useEffect, useState } from "preact/hooks";
import { calls, session } from "../live/page-state.js";
import { mayChange } from "../live/session.js";
import { useWatched } from "../live/watched.js";
import { Field } from "../parts/field.js";
import { Pages } from "../parts/pages.js";
import { Changing, Failure, Notice, Table, View } from "../parts/small.js";
import { useCall } from "../parts/use-call.js";

interface LoggerLevel {
  readonly name: string;
  readonly level: string;
}

const levels = ["FATAL", "ERROR", "WARN", "INFO", "DEBUG", "ALL", "OFF"] as const;
const path = "/v1/admin/log/loggers";
const pageSize = 50;

/** The levels of the loggers of the running agent. */
export function LogsView() {
  const access = useWatched(session);
  const [text, setText] = useState("");
  const [start, setStart] = useState(0);
  const list = useCall<undefined, { loggers: readonly LoggerLevel[] }>(
    async (_given, signal) => await calls.ask("GET", path, { signal }),
  );
  const change = useCall<LoggerLevel, LoggerLevel>(async (logger, signal) => {
    await calls.ask("PUT", path, { query: { transient: true }, body: { logger }, signal });
    return logger;
  });
  useEffect(() => void list.run(undefined), []);
  const set = async (logger: LoggerLevel) => {
    await change.run(logger);
    await list.run(undefined);
  };
  const all = list.result?.loggers ?? [];
  const found = all.filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()));
  const first = start < found.length ? start : 0;
  return (
    <View title="Log levels">
      <p>
        A change holds until the agent stops. Debug lines hold no bodies, but there may be many. <code>root</code> sets
        all that have no level of their own.
      </p>
      <Changing what="Changing a level">{null}</Changing>
      <Failure failure={list.failure ?? change.failure} />
      {change.result === undefined || change.failure !== undefined ? null : (
        <Notice kind="good">
          {change.result.name} logs at {change.result.level} now.
        </Notice>
      )}
      {all.length > pageSize ? (
        <div class="filter">
          <Field label="Find loggers" type="search" value={text} onValue={setText} />
        </div>
      ) : null}
      <Table label="Loggers" columns={["Logger", "Level"]}>
        {found.slice(first, first + pageSize).map(({ name, level }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>
              {mayChange(access) ? (
                <select
                  aria-label={`Level of ${name}`}
                  value={level}
                  disabled={change.running}
                  onChange={(event) => void set({ name, level: event.currentTarget.value })}
                >
                  {levels.map((one) => (
                    <option key={one}>{one}</option>
                  ))}
                </select>
              ) : (
                level
              )}
            </td>
          </tr>
        ))}
      </Table>
      <Pages of={found.length} size={pageSize} start={first} onStart={setStart} />
    </View>
  );
}
