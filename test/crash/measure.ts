/** How much the crash tests do: a little in the test suite, much with `npm run test:crash`. */
const given = process.env["DENEB_TEST_KILLS"];
const long = given !== undefined;

/** Kills of the agent by SIGKILL in one test. */
export const kills = Number(given ?? 4);
/** The same where the server has trouble too. */
export const troubledKills = Number(given ?? 3);
/** Times that something befalls the server of one test. */
export const rounds = long ? 20 : 3;
export const outageMilliseconds = long ? 180_000 : 3000;
/** Milliseconds that the engine of a log is away once; 0: it only starts again. */
export const engineOutageMilliseconds = long ? 120_000 : 0;
/** Milliseconds that an agent may take to store what is left. */
export const patience = long ? 600_000 : 60_000;
export const seed = Number(process.env["DENEB_TEST_SEED"] ?? 1);

export const promise = "every notification answered 200 is stored exactly once";
