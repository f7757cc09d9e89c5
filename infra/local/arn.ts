export const PSEUDO = {
  account: '000000000000',
  region: 'us-east-1',
  partition: 'aws',
  urlSuffix: 'amazonaws.com',
} as const;

export function localArn(
  service: string,
  resource: string,
  { region, account }: { readonly region: string; readonly account: string } = PSEUDO,
): string {
  return `arn:${PSEUDO.partition}:${service}:${region}:${account}:${resource}`;
}

/** Returns the ARN by which the RDS Data API knows a group. */
export function clusterArn(group: string): string {
  return localArn('rds', `cluster:${group}`);
}
