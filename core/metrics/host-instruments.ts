import type { Readings } from "./readings.js";

/** What the agent knows of the machine that it runs on, read before each scrape. */
export interface HostStates {
  readonly disks: readonly DiskState[];
  readonly certificates: readonly CertificateState[];
}

export interface DiskState {
  /** A folder that the agent writes to. */
  readonly path: string;
  /** Bytes of its file system that the account of the agent may still write. */
  readonly free: number;
  readonly size: number;
}

export interface CertificateState {
  readonly component: string;
  /** Path of its file. */
  readonly path: string;
  /** When the first certificate of the file expires. */
  readonly expires: Date;
}

export function addHostInstruments(readings: Readings, states: () => HostStates): void {
  const disks = [
    ["free", "Bytes that the agent may still write to the file system of a folder that it uses."],
    ["size", "Bytes of the file system of a folder that the agent uses."],
  ] as const;
  for (const [member, help] of disks)
    readings.addGauge({
      name: `deneb_disk_${member}_bytes`,
      help,
      labels: ["path"],
      read: () => states().disks.map((disk) => [[disk.path], disk[member]] as const),
    });
  readings.addGauge({
    name: "deneb_certificate_expiry_timestamp_seconds",
    help: "When the first certificate in a file that a component uses expires, in seconds since 1970.",
    labels: ["component", "path"],
    read: () =>
      states().certificates.map(
        ({ component, path, expires }) => [[component, path], expires.getTime() / 1000] as const,
      ),
  });
  readings.addGauge({
    name: "deneb_time_seconds",
    help: "The clock of the agent, in seconds since 1970.",
    labels: [],
    read: () => [[[], Date.now() / 1000] as const],
  });
}
