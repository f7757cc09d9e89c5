import type { QuotaId } from './aws-answers.ts';

const CONSOLES: readonly (readonly [RegExp, string])[] = [
  [/^cn-/u, 'console.amazonaws.cn'],
  [/^us-gov-/u, 'console.amazonaws-us-gov.com'],
];

/** The AWS console's page to request more of a quota. */
export function quotaLink(region: string, { service, code }: QuotaId): string {
  const special = CONSOLES.find(([regions]) => regions.test(region));
  const host = special ? special[1] : `${region}.console.aws.amazon.com`;
  return `https://${host}/servicequotas/home/services/${service}/quotas/${code}?region=${region}`;
}
