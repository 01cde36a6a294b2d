/** How much the crash tests do: a little in the test suite, much with `npm run test:crash`. */
const given = process.env["DENEB_TEST_KILLS"];
const long = given !== undefined;

/** Kills of the agent by SIGKILL in one test. */
export const kills = Number(given ?? 2);
/** Times that something chosen at random befalls agents that share a log, after what every run of their test has. */
export const moreMishaps = long ? kills : 0;
/** Times that something befalls the server of one test. */
export const rounds = long ? 20 : 2;
export const outageMilliseconds = long ? 180_000 : 3000;
/** Milliseconds that the engine of a log is away once; 0: it only starts again. */
export const engineOutageMilliseconds = long ? 120_000 : 0;
/** Milliseconds between the answer that a client gets and its next notification: what it asks for is what everybody must work for. */
export const breath = long ? 0 : 20;
/** Milliseconds that an agent may take to store what is left. */
export const patience = long ? 600_000 : 240_000;
export const seed = Number(process.env["DENEB_TEST_SEED"] ?? 1);

export const promise = "every notification answered 200 is stored exactly once";
