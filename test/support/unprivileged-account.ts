import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** Database servers refuse to run as root, so root lends one an account without rights; everybody else uses their own. */
export async function unprivilegedAccount(preferred: string): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  return (await accountOf(preferred)) ?? (await accountOf("nobody"));
}

async function accountOf(name: string): Promise<Account | undefined> {
  try {
    const [user, group] = await Promise.all([run("id", ["-u", name]), run("id", ["-g", name])]);
    return { uid: Number(user.stdout), gid: Number(group.stdout) };
  } catch {
    return undefined;
  }
}
