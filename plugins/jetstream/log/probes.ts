import type { Examiner, Probe, ProbeResult } from "deneb/sdk";
import type { JetStreamConfig } from "../config.js";
import { Link } from "./link.js";
import { factsOf, streamState } from "./stream.js";
import { subjectsOf } from "./subjects.js";

/** Whether a server lets the agent in, and whether its stream is, or can become, one that loses nothing. */
export function jetstreamProbes(config: JetStreamConfig, component: string, _examiner: Examiner): readonly Probe[] {
  const { servers, username, stream } = config;
  return [
    {
      tries: `connect to ${servers.join(" ")}${username === "" ? "" : ` as "${username}"`}`,
      run: () => linked(config, component, connected),
      next: [
        {
          tries: `read the settings of the stream "${stream}"`,
          run: () => linked(config, component, (link) => judged(link, config)),
        },
      ],
    },
  ];
}

async function linked(
  config: JetStreamConfig,
  component: string,
  work: (link: Link) => Promise<ProbeResult>,
): Promise<ProbeResult> {
  const link = new Link(config, component);
  try {
    return await work(link);
  } finally {
    await link.close();
  }
}

async function connected(link: Link): Promise<ProbeResult> {
  const { info } = await link.connection("connecting");
  const secured = info?.tls_required === true || info?.tls_available === true;
  return {
    outcome: "ok",
    reason: `NATS ${info?.version ?? "of unknown version"}, ${secured ? "with" : "without"} TLS`,
  };
}

async function judged(link: Link, config: JetStreamConfig): Promise<ProbeResult> {
  const { stream, create_stream } = config;
  const found = await streamState(link, stream);
  if (found === undefined) {
    return create_stream
      ? { outcome: "ok", reason: "it does not exist; the agent makes it" }
      : { outcome: "failed", reason: "it does not exist", remedy: "make it, or set create_stream = true" };
  }
  const server = (await link.connection("connecting")).info ?? { version: "0", max_payload: 0 };
  const { warnings } = factsOf(found, {
    doing: `opening the stream "${stream}"`,
    config,
    subjects: subjectsOf(stream),
    server,
  });
  const [warning] = warnings;
  if (warning === undefined) return { outcome: "ok" };
  const [reason = warning, remedy] = warning.split("; ");
  return { outcome: "warning", reason, ...(remedy === undefined ? {} : { remedy }) };
}
