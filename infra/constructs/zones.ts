import { describe } from '../../shared/errors.ts';

/**
 * Zone ids, which mean the same zone in every account, from "AWS Availability Zones" (2026). The list omits zones that
 * "Limitations for RDS Proxy" excludes and those closed to new accounts (usw1-az2, apne1-az3, cac1-az3). No deployment
 * tried them.
 * A zone's position decides its addresses: add at the end only.
 */
const ZONES_OF_REGIONS: Readonly<Record<string, readonly string[]>> = {
  'us-east-1': ['use1-az1', 'use1-az2', 'use1-az4'],
  'us-east-2': ['use2-az1', 'use2-az2', 'use2-az3'],
  // No third zone has RDS Proxy.
  'us-west-1': ['usw1-az1', 'usw1-az3'],
  'us-west-2': ['usw2-az1', 'usw2-az2', 'usw2-az3'],
  'ca-central-1': ['cac1-az1', 'cac1-az2', 'cac1-az4'],
  'sa-east-1': ['sae1-az1', 'sae1-az2', 'sae1-az3'],
  'eu-central-1': ['euc1-az1', 'euc1-az2', 'euc1-az3'],
  'eu-north-1': ['eun1-az1', 'eun1-az2', 'eun1-az3'],
  'eu-south-1': ['eus1-az1', 'eus1-az2', 'eus1-az3'],
  'eu-west-1': ['euw1-az1', 'euw1-az2', 'euw1-az3'],
  'eu-west-2': ['euw2-az1', 'euw2-az2', 'euw2-az3'],
  'eu-west-3': ['euw3-az1', 'euw3-az2', 'euw3-az3'],
  'ap-northeast-1': ['apne1-az1', 'apne1-az2', 'apne1-az4'],
  'ap-northeast-2': ['apne2-az1', 'apne2-az2', 'apne2-az3'],
  'ap-northeast-3': ['apne3-az1', 'apne3-az2', 'apne3-az3'],
  'ap-south-1': ['aps1-az1', 'aps1-az2', 'aps1-az3'],
  'ap-southeast-1': ['apse1-az1', 'apse1-az2', 'apse1-az3'],
  'ap-southeast-2': ['apse2-az1', 'apse2-az2', 'apse2-az3'],
};

/** RDS Proxy refuses these zones, or has one zone less than stated. */
const WITHOUT_PROXY: readonly string[] = ['use1-az3', 'usw1-az2'];

const ZONE_ID = /^(?<region>[a-z]{3,6}\d{1,2})-az\d{1,2}$/u;
const FEWEST_ZONES = 2;
const MOST_ZONES = 3;

/** Zones that `Fn::GetAZs` gives without a region. */
export const ZONES_UNNAMED = 2;

/** Returns the network's zones in order; undefined for an unknown region. Throws an Error that names zones. */
export function zonesFor(
  region: string | undefined,
  given: readonly string[] | undefined,
): readonly string[] | undefined {
  const ofRegion = region === undefined ? undefined : ZONES_OF_REGIONS[region];
  if (!given) return ofRegion;
  const ids = given.map(checkZone);
  if (ids.length < FEWEST_ZONES || ids.length > MOST_ZONES || new Set(ids).size < ids.length)
    throw new Error(
      `zones: wanted ${FEWEST_ZONES} or ${MOST_ZONES} zone ids, each once, got ${ids.join(', ') || 'an empty list'}`,
    );
  const prefixes = new Set([...ids, ...(ofRegion ?? [])].map((id) => ZONE_ID.exec(id)?.groups?.['region']));
  if (prefixes.size > 1)
    throw new Error(`zones: wanted zone ids of ${ofRegion ? region : 'one region'}, got ${ids.join(', ')}`);
  return ids;
}

function checkZone(id: string): string {
  if (!ZONE_ID.test(id))
    throw new Error(
      `zones: wanted zone ids such as use1-az1, which mean the same in every account, got ${describe(id)}`,
    );
  if (WITHOUT_PROXY.includes(id)) throw new Error(`zones: wanted zones that RDS Proxy is in, got ${id}`);
  return id;
}
