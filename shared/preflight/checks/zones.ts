import type { AwsAnswers, Zone } from '../aws-by-sdk.ts';
import type { Check, ChecksOf, Judgement } from '../check.ts';
import { resourcesOf, type Needs } from '../needs.ts';

/** "Quotas and limitations for RDS Proxy". */
const WITHOUT_PROXY: ReadonlySet<string> = new Set(['use1-az3', 'usw1-az2']);
/** The minimum of Aurora and RDS Proxy. */
const FEWEST = 2;

/** A subnet's zone: a position in `Fn::GetAZs`, or a name or id. */
type NamedZone = { readonly position: number } | { readonly name: string } | { readonly id: string };

export const zoneChecks: ChecksOf = (needs) => {
  const hasProxy = resourcesOf(needs, 'AWS::RDS::DBProxy').length > 0;
  return [usableZones(hasProxy), ...zonesOfSubnets(needs, hasProxy)];
};

function usableZones(hasProxy: boolean): Check {
  return {
    name: 'availability zones',
    wanted: `${FEWEST} or more${hasProxy ? ' with RDS Proxy' : ''}`,
    async judge(aws) {
      const zones = await aws.zones();
      const usable = zones.filter(({ id }) => fits(id, hasProxy));
      const found = shown(usable) || 'none';
      if (usable.length >= FEWEST) return { verdict: 'ok', found };
      return { verdict: 'FAIL', found, todo: 'Take another region' };
    },
  };
}

function zonesOfSubnets(needs: Needs, hasProxy: boolean): readonly Check[] {
  const subnets = resourcesOf(needs, 'AWS::EC2::Subnet').map(({ properties }) => namedBy(properties));
  if (subnets.length === 0) return [];
  return [
    {
      name: 'zones of the subnets',
      wanted: `${FEWEST} or more, ${hasProxy ? 'each with RDS Proxy' : 'whichever'}`,
      async judge(aws) {
        const named = subnets.filter((subnet) => subnet !== undefined);
        if (named.length < subnets.length)
          return {
            verdict: 'unknown',
            found: 'said only at the deployment',
            todo: 'Look at AvailabilityZone in cdk.out',
          };
        return judgePositions(await zonesTaken(named, aws), hasProxy);
      },
    },
  ];
}

function judgePositions(zones: readonly (Zone | undefined)[], hasProxy: boolean): Judgement {
  const there = [...new Set(zones)].filter((zone) => zone !== undefined);
  const found = shown(there) || 'none';
  if (zones.includes(undefined) || there.length < FEWEST)
    return {
      verdict: 'FAIL',
      found: `${found}, fewer than the template takes`,
      todo: 'Make default subnets in more zones (CloudFormation offers a template no others), or delete them in all',
    };
  const unfit = there.filter(({ id }) => !fits(id, hasProxy));
  if (unfit.length === 0) return { verdict: 'ok', found };
  return {
    verdict: 'FAIL',
    found: `${found}; no RDS Proxy in ${unfit.map(({ id }) => id).join(', ')}`,
    todo: `Delete the default subnet in ${unfit.map(({ name }) => name).join(', ')} while other zones have one, so that CloudFormation offers the zone to no template, or take another region`,
  };
}

/** Returns the zones that CloudFormation will use. */
async function zonesTaken(named: readonly NamedZone[], aws: AwsAnswers): Promise<readonly (Zone | undefined)[]> {
  const zones = await aws.zones();
  const isByPosition = named.some((subnet) => 'position' in subnet);
  // `Fn::GetAZs` skips zones without a default subnet, unless none has one; in alphabetical order.
  const offered = isByPosition ? await aws.zonesOfDefaultSubnets() : [];
  const byPosition = (offered.length > 0 ? [...new Set(offered)] : zones.map(({ name }) => name)).toSorted();
  return named.map((subnet) => {
    if ('id' in subnet) return zones.find(({ id }) => id === subnet.id);
    const name = 'name' in subnet ? subnet.name : byPosition[subnet.position];
    return zones.find((zone) => zone.name === name);
  });
}

function namedBy({
  AvailabilityZone: zone,
  AvailabilityZoneId: id,
}: Readonly<Record<string, unknown>>): NamedZone | undefined {
  if (typeof id === 'string') return { id };
  if (typeof zone === 'string') return { name: zone };
  const select: unknown = Object(zone)['Fn::Select'];
  if (!Array.isArray(select) || Object(select[1])['Fn::GetAZs'] === undefined) return undefined;
  return { position: Number(select[0]) };
}

function fits(id: string, hasProxy: boolean): boolean {
  return !hasProxy || !WITHOUT_PROXY.has(id);
}

function shown(zones: readonly Zone[]): string {
  return zones.map(({ name, id }) => `${name} (${id})`).join(', ');
}
