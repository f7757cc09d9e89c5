/** The version of the store, in package.json and the newest entry of CHANGELOG.md as well. */
export const VERSION = '0.1.0';
