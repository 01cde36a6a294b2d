/** The codes of a process, and of a machine, that has as many files open as it may. */
export const fullTables: readonly string[] = ["EMFILE", "ENFILE"];

export const OPEN_FILES_REMEDY = "raise the limit of open files (ulimit -Hn, LimitNOFILE)";
