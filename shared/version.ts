/** Of the store; that of package.json and of the newest entry of CHANGELOG.md. */
export const VERSION = '0.1.0';
