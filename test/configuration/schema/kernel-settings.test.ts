import assert from "node:assert/strict";
import { delimiter } from "node:path";
import { test } from "node:test";
import { faultText } from "../../../core/configuration/configuration-fault.js";
import { readKernelSettings } from "../../../core/configuration/schema/kernel-settings.js";

const defaults = {
  managementHost: "127.0.0.1",
  managementPort: 5080,
  dataDir: "data",
  workers: 1,
  gracePeriodSeconds: 30,
  startTimeoutSeconds: 30,
  lockWaitSeconds: 10,
  reloadIntervalSeconds: 30,
  deadLetterDays: 0,
  deadLetterBytes: 1_073_741_824,
  deadLetterReplay: true,
  logLevel: "info",
  logging: "config/logging.json",
  pluginFolders: [],
  pluginPackages: [],
  managementReadTokens: [],
  managementReadTokensFile: "",
  managementAdminTokens: [],
  managementAdminTokensFile: "",
  managementHosts: [],
  managementPage: true,
  managementTlsKey: "",
  managementTlsCertificate: "",
  managementTlsClientCa: "",
  managementBodyLimit: 1_048_576,
  managementConfigurationFolder: "",
  brokerTargets: [],
  brokerTimeout: 10,
  brokerCreateTimeout: 30,
  brokerVerifyTls: true,
  stallThreshold: 60,
  metricsServices: 1000,
  logFormat: "auto",
  tracing: false,
  tracingParents: "continue",
};

const cases = [
  { says: "nothing given leaves the defaults", flags: {}, env: {}, expected: {} },
  {
    says: "an empty variable and an empty option count as not given",
    flags: { dataDir: "" },
    env: { DENEB_LOG_LEVEL: "" },
    expected: {},
  },
  {
    says: "each variable sets its setting",
    flags: {},
    env: {
      DENEB_MANAGEMENT_HOST: "0.0.0.0",
      DENEB_MANAGEMENT_PORT: "0",
      DENEB_DATA_DIR: "/var/lib/deneb",
      DENEB_WORKERS: "4",
      DENEB_GRACE_PERIOD: "5",
      DENEB_LOG_LEVEL: "debug",
      DENEB_LOGGING: "/etc/deneb/logging.json",
    },
    expected: {
      managementHost: "0.0.0.0",
      managementPort: 0,
      dataDir: "/var/lib/deneb",
      workers: 4,
      gracePeriodSeconds: 5,
      logLevel: "debug",
      logging: "/etc/deneb/logging.json",
    },
  },
  {
    says: "an option wins over its variable, even over a wrong one",
    flags: { managementPort: "8081" },
    env: { DENEB_MANAGEMENT_PORT: "x" },
    expected: { managementPort: 8081 },
  },
  {
    says: "tokens come from the environment, lists from blanks or commas",
    flags: { brokerTargets: "orion:1026, *.example.org", brokerVerifyTls: "false" },
    env: { DENEB_MANAGEMENT_READ_TOKENS: "a b", DENEB_MANAGEMENT_ADMIN_TOKENS: "c", DENEB_BROKER_TARGETS: "x" },
    expected: {
      managementReadTokens: ["a", "b"],
      managementAdminTokens: ["c"],
      brokerTargets: ["orion:1026", "*.example.org"],
      brokerVerifyTls: false,
    },
  },
  {
    says: "plugin folders of the command line come before those of the environment",
    flags: { pluginFolders: ["my plugins"] },
    env: { DENEB_PLUGINS: ["one", "", "two"].join(delimiter) },
    expected: { pluginFolders: ["my plugins", "one", "two"] },
  },
  {
    says: "plugin packages of the command line come before those of the environment",
    flags: { pluginPackages: ["mine", "yours,theirs"] },
    env: { DENEB_PLUGIN_PACKAGES: "one, two" },
    expected: { pluginPackages: ["mine", "yours", "theirs", "one", "two"] },
  },
];
for (const { says, flags, env, expected } of cases) {
  test(says, () => {
    const { settings, faults } = readKernelSettings(flags, env);

    assert.deepEqual(faults, []);
    assert.deepEqual(settings, { ...defaults, ...expected });
  });
}

test("all faults are told with the option or variable that gave the value", () => {
  const { settings, faults } = readKernelSettings(
    { managementPort: "70000", logLevel: "warning" },
    { DENEB_GRACE_PERIOD: "1m" },
  );

  assert.equal(settings, undefined);
  assert.deepEqual(faults.map(faultText), [
    '--management-port = "70000": must be a whole number from 0 to 65535',
    'DENEB_GRACE_PERIOD = "1m": must be a whole number of seconds from 0 to 2147483',
    '--log-level = "warning": must be one of: debug, info, warn, error; did you mean "warn"?',
  ]);
});

test("a management host with a port is a fault that says where the port belongs", () => {
  const { settings, faults } = readKernelSettings({ managementHost: "localhost:5080" }, {});

  assert.equal(settings, undefined);
  assert.deepEqual(faults.map(faultText), [
    '--management-host = "localhost:5080": must be one address or name of this machine, and nothing else; its port is --management-port',
  ]);
});

test("a management host in the brackets of a URL is a fault that says how it is written", () => {
  const { settings, faults } = readKernelSettings({}, { DENEB_MANAGEMENT_HOST: "[::1]" });

  assert.equal(settings, undefined);
  assert.deepEqual(faults.map(faultText), ['DENEB_MANAGEMENT_HOST = "[::1]": must be without brackets, as ::1']);
});
