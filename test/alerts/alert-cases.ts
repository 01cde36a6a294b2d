/** Series before and after something breaks, one value each 15 seconds: five good ones, from the sixth on what is broken. */
export interface AlertCase {
  readonly alert: string;
  readonly series: Readonly<Record<string, string>>;
  /** Labels of the alert besides its name, state and severity. */
  readonly labels: Readonly<Record<string, string>>;
  readonly severity: "warning" | "critical";
}

const agent = { job: "deneb", instance: "a:5080" } as const;
const of = (labels: string) => `{job="deneb",instance="a:5080"${labels === "" ? "" : `,${labels}`}}`;
const infoAll = { [`deneb_info${of('version="1"')}`]: "1x20" };
const grows = "0x4 3x10";
const problem = (kind: string, name: string, cause: string) =>
  `deneb_component_problem${of(`kind="${kind}",name="${name}",cause="${cause}"`)}`;
const refused = (status: string, cause: string) =>
  `deneb_source_refused_total${of(`source="s",status="${status}",cause="${cause}"`)}`;
const DAY = 86_400;

/** One for each alert, in the order of the rules. */
export const alertCases: readonly AlertCase[] = [
  { alert: "DenebAbsent", series: { [`deneb_info${of("")}`]: "1x4 stale" }, labels: {}, severity: "critical" },
  {
    alert: "DenebDown",
    series: {
      [`deneb_info${of("")}`]: "1x4 stale",
      [`up${of("")}`]: "1x4 0x10",
      'up{job="other",instance="b"}': "0x20",
    },
    labels: agent,
    severity: "critical",
  },
  {
    alert: "DenebRestarting",
    series: { ...infoAll, [`process_start_time_seconds${of("")}`]: "1x4 2 3 4 4 4 4" },
    labels: agent,
    severity: "warning",
  },
  {
    alert: "DenebWorkerDown",
    series: {
      [`deneb_workers${of('state="running"')}`]: "2x4 1x10",
      [`deneb_workers${of('state="starting"')}`]: "0x5 1 0 0 0",
      [`deneb_workers${of('state="restarting"')}`]: "0x4 1 0 1x10",
    },
    labels: agent,
    severity: "warning",
  },
  {
    alert: "DenebClockWrong",
    series: { [`deneb_time_seconds${of("")}`]: "0+15x4 175+15x10" },
    labels: agent,
    severity: "warning",
  },
  {
    alert: "DenebManagementTokensWrong",
    series: { [`deneb_management_wrong_tokens_total${of("")}`]: grows },
    labels: agent,
    severity: "warning",
  },
  {
    alert: "DenebStrayErrors",
    series: { [`deneb_stray_errors_total${of('plugin="p",component="k"')}`]: grows },
    labels: { ...agent, plugin: "p", component: "k" },
    severity: "warning",
  },
  {
    alert: "DenebConfigurationFileBroken",
    series: {
      [`deneb_configuration_file${of('state="ok"')}`]: "1x4 0x10",
      [`deneb_configuration_file${of('state="missing"')}`]: "0x4 1x10",
    },
    labels: { ...agent, state: "missing" },
    severity: "warning",
  },
  {
    alert: "DenebReloadFailed",
    series: {
      [`deneb_reload_ok${of("")}`]: "1x4 0x10",
      [`deneb_configuration_file${of('state="faulty"')}`]: "0x20",
      'deneb_reload_ok{job="deneb",instance="faulty"}': "1x4 0x10",
      'deneb_configuration_file{job="deneb",instance="faulty",state="faulty"}': "0x4 1x10",
    },
    labels: agent,
    severity: "warning",
  },
  {
    alert: "DenebCertificateExpiring",
    series: {
      [`deneb_certificate_expiry_timestamp_seconds${of('component="s",path="/c"')}`]: `${14 * DAY + 60}x20`,
    },
    labels: { ...agent, component: "s", path: "/c" },
    severity: "warning",
  },
  {
    alert: "DenebCertificateExpired",
    series: { [`deneb_certificate_expiry_timestamp_seconds${of('component="s",path="/c"')}`]: "60x20" },
    labels: { ...agent, component: "s", path: "/c" },
    severity: "critical",
  },
  {
    alert: "DenebDiskNearlyFull",
    series: {
      [`deneb_disk_free_bytes${of('path="/d"')}`]: "50x4 9x10",
      [`deneb_disk_size_bytes${of('path="/d"')}`]: "100x20",
    },
    labels: { ...agent, path: "/d" },
    severity: "warning",
  },
  {
    alert: "DenebComponentDown",
    series: { [problem("sink", "k", "no-progress")]: "0x4 2x10", [problem("sink", "k", "store-failing")]: "0x4 2x10" },
    labels: { ...agent, kind: "sink", name: "k", cause: "no-progress" },
    severity: "critical",
  },
  {
    alert: "DenebComponentDegraded",
    series: { [problem("source", "s", "reported")]: "0x4 1x10" },
    labels: { ...agent, kind: "source", name: "s", cause: "reported" },
    severity: "warning",
  },
  {
    alert: "DenebStoreFailing",
    series: {
      [`deneb_sink_store_error${of('sink="k",code="STORE_UNAVAILABLE",cause="28P01"')}`]: "_x4 1x10",
      [`deneb_sink_store_error${of('sink="k2",code="POSITION_CONFLICT"')}`]: "_x4 1x10",
    },
    labels: { ...agent, sink: "k", code: "STORE_UNAVAILABLE", cause: "28P01" },
    severity: "critical",
  },
  {
    alert: "DenebStoreNotAnswering",
    series: { [`deneb_sink_call_seconds${of('sink="k"')}`]: "0x4 0+15x10" },
    labels: { ...agent, sink: "k" },
    severity: "warning",
  },
  {
    alert: "DenebPositionConflict",
    series: { [problem("sink", "k", "position-conflict")]: "0x4 2x10" },
    labels: { ...agent, kind: "sink", name: "k", cause: "position-conflict" },
    severity: "critical",
  },
  {
    alert: "DenebChannelFilling",
    series: {
      [`deneb_channel_events${of('channel="c"')}`]: "0x4 100+15x10",
      [`deneb_channel_capacity_events${of('channel="c"')}`]: "1000x20",
    },
    labels: { ...agent, channel: "c" },
    severity: "warning",
  },
  {
    alert: "DenebChannelFull",
    series: {
      [`deneb_channel_bytes${of('channel="c"')}`]: "10x4 96x10",
      [`deneb_channel_capacity_bytes${of('channel="c"')}`]: "100x20",
      [`deneb_channel_events${of('channel="c"')}`]: "1x20",
      [`deneb_channel_capacity_events${of('channel="c"')}`]: "100x20",
    },
    labels: { ...agent, channel: "c" },
    severity: "critical",
  },
  {
    alert: "DenebPutsRefused",
    series: { [problem("channel", "c", "puts-refused")]: "0x4 2x10" },
    labels: { ...agent, kind: "channel", name: "c", cause: "puts-refused" },
    severity: "critical",
  },
  {
    alert: "DenebOldestEvent",
    series: { [`deneb_channel_oldest_event_seconds${of('channel="c"')}`]: "540+15x20" },
    labels: { ...agent, channel: "c" },
    severity: "warning",
  },
  {
    alert: "DenebEventsLost",
    series: {
      [`deneb_ledger_events_total${of('channel="c",outcome="lost"')}`]: grows,
      [`deneb_ledger_events_total${of('channel="c",outcome="stored"')}`]: "0+10x20",
    },
    labels: { ...agent, channel: "c", outcome: "lost" },
    severity: "critical",
  },
  {
    alert: "DenebEventsUnaccounted",
    series: {
      [`deneb_ledger_unaccounted_events${of('channel="c"')}`]: "0x4 2x10",
      [`deneb_ledger_unaccounted_events${of('channel="moving"')}`]: "0 1 0 2 0 1 0 3 0 1 0 1 0",
    },
    labels: { ...agent, channel: "c" },
    severity: "critical",
  },
  {
    alert: "DenebLogUnreachable",
    series: { [problem("channel", "c", "log-unreachable")]: "0x4 1x10" },
    labels: { ...agent, kind: "channel", name: "c", cause: "log-unreachable" },
    severity: "critical",
  },
  {
    alert: "DenebPartitionsUnattended",
    series: { [problem("channel", "c", "partitions-unattended")]: "0x4 1x10" },
    labels: { ...agent, kind: "channel", name: "c", cause: "partitions-unattended" },
    severity: "critical",
  },
  {
    alert: "DenebLogUnaccounted",
    series: {
      [`deneb_log_unaccounted_events${of('channel="c"')}`]: "0x4 2x10",
      [`deneb_log_unaccounted_events${of('channel="moving"')}`]: "0 1 0 2 0 1 0 3 0 1 0 1 0",
    },
    labels: { ...agent, channel: "c" },
    severity: "critical",
  },
  {
    alert: "DenebDeadLettersGrowing",
    series: { [`deneb_dead_letters_kept_total${of('sink="k",reason="permanent"')}`]: grows },
    labels: { ...agent, sink: "k", reason: "permanent" },
    severity: "warning",
  },
  {
    alert: "DenebDeadLettersOld",
    series: { [`deneb_dead_letters_oldest_timestamp_seconds${of('sink="k"')}`]: `${60 - DAY}x20` },
    labels: { ...agent, sink: "k" },
    severity: "warning",
  },
  {
    alert: "DenebDeadLettersNearLimit",
    series: {
      [`deneb_dead_letters_bytes${of('sink="k"')}`]: "0x4 81x10",
      [`deneb_dead_letters_limit_bytes${of("")}`]: "100x20",
      // With several workers each has a limit.
      [`deneb_dead_letters_limit_bytes${of('worker="2"')}`]: "100x20",
    },
    labels: { ...agent, sink: "k" },
    severity: "warning",
  },
  {
    alert: "DenebDeadLettersFull",
    series: { [problem("sink", "k", "dead-letters-full")]: "0x4 2x10" },
    labels: { ...agent, kind: "sink", name: "k", cause: "dead-letters-full" },
    severity: "critical",
  },
  {
    alert: "DenebEventsHeldBack",
    series: { [problem("sink", "k", "events-held-back")]: "0x4 1x10" },
    labels: { ...agent, kind: "sink", name: "k", cause: "events-held-back" },
    severity: "warning",
  },
  {
    alert: "DenebTokenRefused",
    series: { [refused("401", "token")]: grows, [refused("400", "content")]: "0x20" },
    labels: { ...agent, source: "s" },
    severity: "warning",
  },
  {
    alert: "DenebQuotaExceeded",
    series: { [refused("429", "service-rate")]: grows },
    labels: { ...agent, source: "s", cause: "service-rate" },
    severity: "warning",
  },
  {
    alert: "DenebNotificationsInvalid",
    series: { [refused("400", "content-type")]: grows, [refused("401", "token")]: grows, [refused("429", "q")]: grows },
    labels: { ...agent, source: "s", status: "400", cause: "content-type" },
    severity: "warning",
  },
  {
    alert: "DenebNotificationsRejected",
    series: { [refused("503", "channel-full")]: grows, [refused("400", "content")]: grows },
    labels: { ...agent, source: "s", status: "503", cause: "channel-full" },
    severity: "critical",
  },
  {
    alert: "DenebEventsUnrouted",
    series: { [`deneb_source_unrouted_events_total${of('source="s"')}`]: grows },
    labels: { ...agent, source: "s" },
    severity: "warning",
  },
];
