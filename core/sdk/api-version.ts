/**
 * The version of this contract. It rises when a plugin written for the version before would no longer work; additions
 * do not change it. A plugin says in `apiVersion` which one it was written for.
 */
export const API_VERSION = 1;
