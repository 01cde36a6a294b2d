/** What the predecessor had on a path, and what to use instead. */
interface Replaced {
  readonly path: RegExp;
  readonly status: 404 | 501;
  readonly instead: string;
}

const replaced: readonly Replaced[] = [
  {
    path: /^(?:\/v1)?\/admin\/configuration\/agent\/./,
    status: 501,
    instead:
      "files of agents are read and changed only with --management-configuration-folder (DENEB_MANAGEMENT_CONFIGURATION_FOLDER)",
  },
  {
    path: /^(?:\/v1)?\/admin\/configuration\/instance(?:\/|$)/,
    status: 501,
    instead: "there is no instance file; use the options of deneb run or their DENEB_ variables, and start it again",
  },
  {
    path: /^\/v1\/groupingrules\/?$/,
    status: 501,
    instead: "there are no grouping rules; use name mappings (/v1/namemappings)",
  },
  { path: /^\/stats\/?$/, status: 404, instead: "use GET /v1/stats" },
  { path: /(?:^|\/)points\/?$/, status: 404, instead: "the page at /ui/ has charts, GET /metrics their numbers" },
  { path: /^\/$/, status: 404, instead: "the page is at /ui/, and the calls are listed by GET /openapi.json" },
];

/** The answer to a call of an unknown path; it names the replacement of what the predecessor had there. */
export function answerToUnknown(method: string, path: string): { readonly status: number; readonly error: string } {
  const { status, instead } = replaced.find((one) => one.path.test(path)) ?? { status: 404, instead: undefined };
  const what = `${method} ${path} ${status === 501 ? "not implemented" : "not found"}`;
  return { status, error: instead === undefined ? what : `${what}: ${instead}` };
}
